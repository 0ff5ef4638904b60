#include "model/loopback/calibration.h"

#include <math.h>
#include <string.h>

#define MEASURED_BYTES 1048576 /* of reduce and pair_message */

/* Of a message on one machine: what the sender's processor does at most, and
 * what is left to the link, which SimGrid shares oddly when it has none. */
#define SEND_PART 0.8
#define LINK_PART 0.02

/* Of its bytes by TCP, where ranks take turns: so the processor times of two
 * ranks of one core are, one of which sends the other 256 KiB to 4 MiB. Where
 * it is measured, at least and at most. */
#define SEND_BYTE_PART  (2.0 / 3)
#define LEAST_SEND_PART 0.5
#define MOST_SEND_PART  0.9

const size_t calibration_bytes[CALIBRATION_SIZES] = {
	8,     64,     1024,   4096,   16384,   32768,
	65536, 131072, 262144, 524288, 1048576, 2097152};

/* s spreads by so much of whole, which is s itself or what it is a part of. */
static void consider(const struct dist__sample *s,
		     const struct dist__sample *whole, const char *name,
		     double *worst, const char **what)
{
	double spread =
		whole->median > 0
			? (s->high_quartile - s->low_quartile) / whole->median
			: 0;

	if (spread <= *worst)
		return;
	*worst = spread;
	*what = name;
}

int calibration_turns(int world_size, int cores)
{
	return cores > 0 ? (world_size + cores - 1) / cores : 1;
}

static bool takes_turns(const struct calibration_measures *m)
{
	return calibration_turns(m->world_size, m->cores) > 1;
}

int calibration_barrier_rounds(int world_size)
{
	int rounds = 0;

	while (1 << rounds < world_size)
		rounds++;
	return rounds;
}

/* Whether one pair's stream tells what bytes take of a sender's core. */
static bool pair_tells(const struct calibration_measures *m)
{
	return !m->in_memory && m->cores > 0 && !takes_turns(m);
}

/* The measure that alpha comes from. */
static const struct dist__sample *
message_of(const struct calibration_measures *m)
{
	if (m->in_memory)
		return &m->exchange[0];
	return m->cores == 0 && m->world_size == 2 ? &m->half_trip : &m->round;
}

double calibration_spread(const struct calibration_measures *m,
			  const char **what)
{
	static const char *const exchange_names[CALIBRATION_SIZES] = {
		"exchange of 8 B",     "exchange of 64 B",
		"exchange of 1 KiB",   "exchange of 4 KiB",
		"exchange of 16 KiB",  "exchange of 32 KiB",
		"exchange of 64 KiB",  "exchange of 128 KiB",
		"exchange of 256 KiB", "exchange of 512 KiB",
		"exchange of 1 MiB",   "exchange of 2 MiB"};
	double worst = -1;
	/* On one machine the smallest exchange is no part of the fit but
	 * through memory, nor is what one pair does alone where ranks take
	 * turns; between hosts the local copy. */
	const struct dist__sample *message = message_of(m);
	int i = m->cores > 0 ? 1 : 0;

	*what = "";
	consider(message, message, "time of a message", &worst, what);
	if (!m->in_memory)
		consider(&m->issue, &m->issue, "issue of a message", &worst,
			 what);
	if (m->cores == 0 || pair_tells(m))
		consider(&m->pair_message, &m->pair_message,
			 "stream of one pair", &worst, what);
	if (m->in_memory) {
		consider(&m->call, message, "a call without messages", &worst,
			 what);
		consider(&m->sends, message, "a call that sends", &worst, what);
		consider(&m->receives, message, "a call that receives", &worst,
			 what);
		if (takes_turns(m))
			consider(&m->waits, &m->waits, "a call that waits",
				 &worst, what);
		consider(&m->one_way, &m->one_way, "256 KiB one way", &worst,
			 what);
	}
	for (int j = 1; j < CALIBRATION_SIZES && m->in_memory; j++)
		consider(&m->sums[j], &m->sums[j], "a sum of exchanges", &worst,
			 what);
	for (int j = 1; j < CALIBRATION_SIZES; j++)
		consider(&m->core_exchange[j], &m->core_exchange[j],
			 "an exchange on one core", &worst, what);
	for (; i < CALIBRATION_SIZES; i++)
		consider(&m->exchange[i], &m->exchange[i], exchange_names[i],
			 &worst, what);
	consider(&m->reduce, &m->reduce, "local reduction", &worst, what);
	if (m->cores > 0)
		consider(&m->copies[CALIBRATION_PAIR],
			 &m->copies[CALIBRATION_PAIR], "local copy", &worst,
			 what);
	return worst;
}

double calibration_wire_Bps(const struct calibration_model *model)
{
	return fmin(model->pair_Bps, model->capacity_Bps / model->world_size);
}

/* What a message of so many bytes loads the wire with, by rates. */
static double load_bytes(const struct dist__rate *rates, size_t num,
			 size_t bytes)
{
	struct dist__profile profile = {.num_rates = num};

	memcpy(profile.rates, rates, num * sizeof *rates);
	return dist__profile_load_bytes(&profile, DIST__LOAD, bytes, 0);
}

/* What a byte takes of an exchange, longest messages. */
static double byte_ns(const struct calibration_model *model)
{
	if (model->cores > 0)
		return 1e9 / model->send_Bps + 1e9 / model->receive_Bps;
	return 1e9 / calibration_wire_Bps(model);
}

double calibration_exchange_ns(const struct calibration_model *model,
			       size_t bytes)
{
	double bytes_ns = load_bytes(model->rates, model->num_rates, bytes) *
			  byte_ns(model);

	return calibration_turns(model->world_size, model->cores) *
	       (model->step_ns + bytes_ns);
}

/* What a turn of an exchange takes. */
static double turn_ns(const struct calibration_measures *m,
		      const struct dist__sample *exchange)
{
	return exchange->median / calibration_turns(m->world_size, m->cores);
}

/* What that is beside its bytes: between hosts the smallest exchange. (That is
 * not alpha: it holds what the calls of the public interface cost, and a
 * collective pays that once.) On one machine by TCP that depends on whose turn
 * it happens to be, and it is a message of the model. */
static double intercept_ns(const struct calibration_measures *m,
			   const struct calibration_model *model)
{
	return m->cores > 0 ? model->step_ns : m->exchange[0].median;
}

/* What a byte of that exchange takes, of size i. At least a tenth of the
 * time counts as that of the bytes, so that rates stay finite whatever was
 * measured. */
static double ns_per_byte(const struct calibration_measures *m,
			  const struct calibration_model *model,
			  const struct dist__sample *exchanges, int i)
{
	double whole_ns = turn_ns(m, &exchanges[i]);

	return fmax(whole_ns - intercept_ns(m, model), whole_ns / 10) /
	       (double)calibration_bytes[i];
}

/* Each exchange that has two neighbours with a rate, by these. */
static double residual_of(const struct calibration_measures *m,
			  const struct calibration_model *model)
{
	int i = CALIBRATION_SIZES - (int)model->num_rates;
	const struct dist__rate *rate = model->rates;
	double worst = 0;

	for (; i + 2 < CALIBRATION_SIZES; i++, rate++) {
		struct dist__rate around[2] = {rate[0], rate[2]};
		double modelled =
			intercept_ns(m, model) +
			load_bytes(around, 2, rate[1].bytes) * byte_ns(model);

		worst = fmax(
			worst,
			fabs(modelled / turn_ns(m, &m->exchange[i + 1]) - 1));
	}
	return worst;
}

/* What the sender's core does of a byte: one way two are at it at the same
 * time, and the slower one, the sender if any, is what takes time; both ways
 * each core does all of it. */
static double send_part(const struct calibration_measures *m,
			const struct calibration_model *model)
{
	int i = m->in_memory ? CALIBRATION_ONE_WAY : CALIBRATION_PAIR;
	const struct dist__sample *one_way =
		m->in_memory ? &m->one_way : &m->pair_message;
	double one_way_ns = one_way->median / (double)calibration_bytes[i];

	if (!m->in_memory && !pair_tells(m))
		return SEND_BYTE_PART;
	return fmin(fmax(one_way_ns / ns_per_byte(m, model, m->exchange, i),
			 LEAST_SEND_PART),
		    MOST_SEND_PART);
}

/* Of the rate that sums go at without a message. A ring in which what comes is
 * added up on half of the steps takes longer by that; at least a hundredth, so
 * that shares stay finite whatever was measured. */
static double sum_share(const struct calibration_measures *m, int i)
{
	double both_ns = m->sums[i].median;
	double sum_ns =
		fmax(both_ns - 2 * m->exchange[i].median, both_ns / 100) /
		calibration_turns(m->world_size, m->cores);

	if (!m->in_memory)
		return 1;
	return m->reduce.median / MEASURED_BYTES *
	       (double)calibration_bytes[i] / sum_ns;
}

static double copy_Bps(const struct calibration_measures *m, int i)
{
	return (double)calibration_bytes[i] / m->copies[i].median * 1e9;
}

/* What a byte takes of exchanges of each size but the first. By TCP and on one
 * core, where ranks take turns, bytes that seem slower than those of the next
 * longer were waiting for one. Through memory they wait for their lines to come
 * from core to core. */
static void bytes_ns(const struct calibration_measures *m,
		     const struct calibration_model *model,
		     const struct dist__sample *exchanges,
		     double each_ns[CALIBRATION_SIZES])
{
	bool in_turn = takes_turns(m) &&
		       (!m->in_memory || exchanges == m->core_exchange);

	for (int i = CALIBRATION_SIZES - 1; i > 0; i--) {
		each_ns[i] = ns_per_byte(m, model, exchanges, i);
		if (in_turn && i < CALIBRATION_SIZES - 1)
			each_ns[i] = fmin(each_ns[i], each_ns[i + 1]);
	}
}

/* Where bytes take less than half of what the intercept does, or a tenth where
 * that is steady, through memory with a core for each rank, the time says too
 * little of their rate, and they have that of the next longer. The longest
 * always has one. */
static void fit_rates(const struct calibration_measures *m,
		      struct calibration_model *model)
{
	double each_ns[CALIBRATION_SIZES], core_ns[CALIBRATION_SIZES],
		longest_ns;
	double telling = m->in_memory && !takes_turns(m) ? 1.1 : 1.5;
	int i, first = 1;

	bytes_ns(m, model, m->exchange, each_ns);
	bytes_ns(m, model,
		 m->core_exchange[CALIBRATION_SIZES - 1].median > 0
			 ? m->core_exchange
			 : m->exchange,
		 core_ns);
	longest_ns = each_ns[CALIBRATION_SIZES - 1];
	while (first < CALIBRATION_SIZES - 1 &&
	       turn_ns(m, &m->exchange[first]) <
		       telling * intercept_ns(m, model))
		first++;
	model->num_rates = 0;
	for (i = first; i < CALIBRATION_SIZES; i++)
		model->rates[model->num_rates++] = (struct dist__rate){
			calibration_bytes[i],
			{[DIST__LOAD] = longest_ns / each_ns[i],
			 [DIST__CORE_LOAD] = longest_ns / core_ns[i],
			 [DIST__SUM] = sum_share(m, i),
			 [DIST__COPY] = copy_Bps(m, i) / model->copy_Bps}};
	if (m->cores == 0) {
		model->capacity_Bps = m->world_size / longest_ns * 1e9;
		return;
	}
	model->capacity_Bps = fmin(m->world_size, m->cores) / longest_ns * 1e9;
	model->send_Bps = 1e9 / (send_part(m, model) * longest_ns);
	model->receive_Bps = 1e9 / ((1 - send_part(m, model)) * longest_ns);
}

/* A pair of one machine is as fast as its sender's core. Between hosts one pair
 * alone cannot be slower than its share under load. */
static double pair_Bps(const struct calibration_measures *m,
		       const struct calibration_model *model)
{
	double bytes =
		load_bytes(model->rates, model->num_rates, MEASURED_BYTES);

	if (m->cores > 0)
		return model->send_Bps;
	return fmax(bytes / m->pair_message.median * 1e9,
		    model->capacity_Bps / m->world_size);
}

/* By TCP a message is the system's work, whoever waits for it. */
static void fit_message(const struct calibration_measures *m,
			struct calibration_model *model)
{
	const struct dist__sample *message = message_of(m);
	double alpha_ns =
		message->median / calibration_turns(m->world_size, m->cores);

	if (m->cores == 0) {
		/* What disturbs a message between hosts makes it longer, never
		 * shorter. */
		alpha_ns = message->low_quartile;
		model->overhead_ns = fmin(m->issue.median, alpha_ns / 2);
		model->latency_ns = alpha_ns - model->overhead_ns;
	} else {
		model->overhead_ns =
			fmin(m->issue.median, SEND_PART * alpha_ns);
		model->latency_ns = LINK_PART * alpha_ns;
		model->receive_ns =
			alpha_ns - model->latency_ns - model->overhead_ns;
	}
	model->step_ns = alpha_ns;
}

/* What is left of a call in which all wait for all. Of the ranks of a core all
 * wait but the last to come, who finds all there; where waits are long, and one
 * call follows the other, that one waits as well, and what the others of its
 * core send falls into its wait. */
static double wait_ns(const struct calibration_measures *m,
		      const struct calibration_model *model)
{
	int share = calibration_turns(m->world_size, m->cores),
	    messages = m->world_size - 1;
	double own_ns = model->call_ns +
			messages * (model->overhead_ns + model->receive_ns);
	double others_ns = (m->waits.median - share * own_ns) / (share - 1);
	double all_ns =
		(m->waits.median - share * messages * model->receive_ns -
		 model->call_ns - model->overhead_ns) /
		share;

	return fmax(fmin(others_ns, all_ns), 0);
}

/* A step of a ring with next to nothing. Where ranks take turns it goes fast or
 * slowly, as they happen to come: whichever takes longer, for bytes must not
 * seem to take what waits do. */
static double shortest_ns(const struct calibration_measures *m)
{
	double least = m->exchange[0].median;

	return takes_turns(m) ? fmax(least, m->exchange[1].median) : least;
}

/* Through memory it is next to none: what a step takes is mostly the call's,
 * and where ranks take turns a wait's. What one message takes is what calls
 * take longer that have more of them and wait for none. Of those that receive,
 * a core has the other ranks of the receiver's too, which send. */
static void fit_call(const struct calibration_measures *m,
		     struct calibration_model *model)
{
	int share = calibration_turns(m->world_size, m->cores),
	    messages = m->world_size - 1;
	double call_ns = m->call.median, step, receives_ns;

	model->step_ns = shortest_ns(m) / share;
	step = fmax(model->step_ns - call_ns / messages, model->step_ns / 10);
	model->call_ns = call_ns;
	model->latency_ns = LINK_PART * step;
	step -= model->latency_ns;
	model->overhead_ns = fmin(fmax(m->sends.median - call_ns, 0) / messages,
				  SEND_PART * step);
	model->receive_ns = step - model->overhead_ns;
	if (share == 1)
		return;
	receives_ns = m->receives.median - call_ns -
		      (share - 1) * (call_ns + model->overhead_ns);
	model->receive_ns =
		fmin(fmax(receives_ns, 0) / messages, model->receive_ns);
	model->wait_ns = wait_ns(m, model);
}

void calibration_fit(const struct calibration_measures *m,
		     struct calibration_model *model)
{
	*model = (struct calibration_model){.world_size = m->world_size,
					    .cores = m->cores,
					    .in_memory = m->in_memory};
	if (m->in_memory)
		fit_call(m, model);
	else
		fit_message(m, model);
	model->copy_Bps = copy_Bps(m, CALIBRATION_PAIR);
	fit_rates(m, model);
	model->pair_Bps = pair_Bps(m, model);
	model->reduce_Bps = MEASURED_BYTES / m->reduce.median * 1e9;
	model->residual = residual_of(m, model);
}
