/* debug.c - the debug levels by name. */
#include "core/backend.h"

#include <string.h>

bool dist__debug_parse(enum dist__debug *level, const char *text)
{
	static const char *const levels[] = {[DIST__DEBUG_OFF] = "off",
					     [DIST__DEBUG_INFO] = "info",
					     [DIST__DEBUG_DETAIL] = "detail"};

	*level = DIST__DEBUG_OFF;
	for (int i = 0; text && i <= DIST__DEBUG_DETAIL; i++)
		if (strcmp(text, levels[i]) == 0) {
			*level = (enum dist__debug)i;
			return true;
		}
	return !text;
}
