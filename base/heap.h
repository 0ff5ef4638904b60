/*
 * heap.h - a heap in an array, the least item first: each place has `width`
 * children, which are not less than it.
 *
 * DIST__HEAP(name, type, width, before, put) defines
 *	name_rise(heap, place, item): item goes from place, which is free, up
 *	name_sink(heap, num, place, item): down, among num items
 *	name_pop(heap, num): takes out the first of num items
 * before(a, b) says whether item a is less than b; put(heap, place, item)
 * stores it, as DIST__HEAP_PUT does.
 */
#ifndef LOCKSTEP_BASE_HEAP_H
#define LOCKSTEP_BASE_HEAP_H

#include <stddef.h>

#define DIST__HEAP_PUT(heap, place, item) ((heap)[place] = (item))

/* clang-format off */
#define DIST__HEAP(name, type, width, before, put)                             \
	static inline void name##_rise(type *heap, size_t place, type item)    \
	{                                                                      \
		while (place > 0 &&                                            \
		       before(item, heap[(place - 1) / (width)])) {            \
			put(heap, place, heap[(place - 1) / (width)]);         \
			place = (place - 1) / (width);                         \
		}                                                              \
		put(heap, place, item);                                        \
	}                                                                      \
	static inline void name##_sink(type *heap, size_t num, size_t place,   \
				       type item)                              \
	{                                                                      \
		for (;;) {                                                     \
			size_t child = (width) * place + 1, least = child;     \
									       \
			if (child >= num)                                      \
				break;                                         \
			for (size_t i = 1; i < (width) && ++child < num; i++)  \
				if (before(heap[child], heap[least]))          \
					least = child;                         \
			if (!before(heap[least], item))                        \
				break;                                         \
			put(heap, place, heap[least]);                         \
			place = least;                                         \
		}                                                              \
		put(heap, place, item);                                        \
	}                                                                      \
	static inline type name##_pop(type *heap, size_t num)                  \
	{                                                                      \
		type first = heap[0];                                          \
									       \
		name##_sink(heap, num - 1, 0, heap[num - 1]);                  \
		return first;                                                  \
	}
/* clang-format on */

#endif
