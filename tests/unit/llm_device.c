/* llm_device.c - GPUs are found by what users call them, and kernels take
 * times that their peaks allow. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "model/llm/device.h"
#include "model/llm/kernels.h"
#include "model/llm/step.h"
#include "tests/support/okay.h"

TestSuite(llm_device);

static const struct llm_pace pace = {1, 1, 1};

static void expect_name(const char *asked, const char *found)
{
	struct llm_device device;
	struct dist_message message;

	cr_assert(eq(int, llm_device_find(&device, asked, &message), DIST_OK),
		  "%s: %s", asked, message.text);
	cr_assert_str_eq(device.name, found, "%s is %s", asked, device.name);
	llm_device_release(&device);
}

Test(llm_device, is_found_by_the_names_that_users_say)
{
	expect_name("H100", "H100-SXM");
	expect_name("h100 80gb", "H100-SXM");
	expect_name("H100-SXM", "H100-SXM");
	expect_name("NVIDIA H100 80GB HBM3", "H100-SXM");
	expect_name("H100 PCIe", "H100-PCIe");
	expect_name("H100 94GB", "H100-NVL");
	expect_name("H100 500W", "H100-96GB-HBM2e-500W");
	expect_name("A100 PCIe", "A100-PCIe-80GB");
	expect_name("A100 PCIe 40GB", "A100-PCIe-40GB");
	expect_name("A100", "A100-SXM-80GB");
	expect_name("NVIDIA A100-SXM4-40GB", "A100-SXM-40GB");
	expect_name("V100 32GB", "V100-SXM2-32GB");
	expect_name("B200", "B200");
	expect_name("GB200 192GB", "GB200");
	expect_name("GH200", "GH200-141GB");
	expect_name("AMD Instinct MI300X", "MI300X");
	expect_name("rtx 4090", "RTX-4090");
	expect_name("RTX2080Ti", "RTX-2080-Ti");
	expect_name("A6000", "RTX-A6000");
	expect_name("NVIDIA RTX 6000 Ada Generation", "RTX-6000-Ada");
	expect_name("L40", "L40");
}

static void expect_refused(const char *asked, const char *words)
{
	struct llm_device device;
	struct dist_message message;

	cr_assert(eq(int, llm_device_find(&device, asked, &message),
		     DIST_ERR_INVALID_ARGUMENT));
	cr_assert_str_eq(message.text, words, "%s", message.text);
}

Test(llm_device, that_is_not_known_is_refused_with_near_names)
{
	expect_refused("A100 PCIe 16GB",
		       "GPU A100 PCIe 16GB: expected one of A100-SXM-40GB, "
		       "A100-SXM-64GB, A100-SXM-80GB, A100-PCIe-40GB, "
		       "A100-PCIe-80GB");
	expect_refused("V200", "GPU V200: expected one of V100-SXM2-16GB, "
			       "V100-SXM2-32GB, H200-SXM, H200-NVL, B200");
}

Test(llm_device, refuses_a_precision_that_it_lacks)
{
	struct llm_device device;
	struct dist_message message;

	cr_assert(eq(int, llm_device_find(&device, "V100", &message), DIST_OK));
	cr_expect(
		eq(int, llm_device_can(&device, LLM_FP16, &message), DIST_OK));
	cr_expect(eq(int, llm_device_can(&device, LLM_BF16, &message),
		     DIST_ERR_INVALID_ARGUMENT));
	cr_expect_str_eq(message.text, "precision bf16: expected for "
				       "V100-SXM2-32GB one of fp16 fp32");
	llm_device_release(&device);
}

/* On every GPU, in every precision that it has. */
Test(llm_device, computes_no_faster_than_its_peak)
{
	const struct llm_gemm gemm = {
		.m = 8192, .n = 8192, .k = 8192, .batch = 1};
	const struct llm_attention attention = {1, 8192, 8192, 32,
						8, 128,  128,  .causal = false};
	struct llm_device *all, device;
	struct dist_message message;
	size_t num;

	cr_assert(
		eq(int, llm_device_list(&all, &num, true, &message), DIST_OK));
	cr_assert(eq(sz, num, 42));
	for (size_t i = 0; i < num; i++) {
		device = all[i];
		for (int p = 0; p < LLM_PRECISIONS; p++) {
			double peak = device.peak[p] / 1e9;
			double share;

			if (peak <= 0)
				continue;
			share = 2 * 8192. * 8192 * 8192 / peak /
				llm_gemm_ns(&device, (enum llm_precision)p,
					    &pace, &gemm);
			cr_expect(share > 0.3 && share < 0.9, "%s %s: %g",
				  device.name,
				  llm_precision_name((enum llm_precision)p),
				  share);
			share = 4 * 8192. * 8192 * 32 * 128 / peak /
				llm_attention_ns(&device, (enum llm_precision)p,
						 &pace, &attention, false);
			cr_expect(p > LLM_FP16 || (share > 0.25 && share < 0.9),
				  "%s %s: %g", device.name,
				  llm_precision_name((enum llm_precision)p),
				  share);
		}
	}
	llm_device_list_release(all, num);
}

/* GB200's products were measured in fp8 alone, B200's in bf16 alone, but one
 * search found the best of both: 3616 and 3433 TFLOP/s in fp8. In bf16 GB200
 * reaches the share that it does in fp8, for that is more than B200's, which
 * was hot. Twice the exponentials beside each product make attention faster,
 * forward more than backward. */
Test(llm_device, gpus_of_one_generation_are_compared_by_one_search)
{
	struct llm_device b200, gb200, gb300;
	struct dist_message message;

	cr_assert(eq(int, llm_device_find(&b200, "B200", &message), DIST_OK));
	cr_assert(eq(int, llm_device_find(&gb200, "GB200", &message), DIST_OK));
	cr_assert(eq(int, llm_device_find(&gb300, "GB300", &message), DIST_OK));
	cr_expect(gt(dbl, gb200.efficiency->gemm[LLM_BF16],
		     1.1 * b200.efficiency->gemm[LLM_BF16]));
	cr_expect(epsilon_eq(dbl, gb200.efficiency->gemm[LLM_BF16],
			     gb200.efficiency->gemm[LLM_FP8], 1e-9));
	cr_expect(epsilon_eq(dbl, gb300.efficiency->gemm[LLM_BF16],
			     gb200.efficiency->gemm[LLM_BF16], 1e-9));
	cr_expect(epsilon_eq(dbl,
			     gb200.efficiency->gemm[LLM_FP8] * 5000 /
				     (b200.efficiency->gemm[LLM_FP8] * 4500),
			     3615.6 / 3432.5, 1e-9));
	cr_expect(gt(dbl,
		     gb300.efficiency->forward[LLM_FASTEST] /
			     gb200.efficiency->forward[LLM_FASTEST],
		     1.2));
	cr_expect(lt(dbl,
		     gb300.efficiency->backward[LLM_FASTEST] /
			     gb200.efficiency->backward[LLM_FASTEST],
		     1.2));
	llm_device_release(&b200);
	llm_device_release(&gb200);
	llm_device_release(&gb300);
}

/* Where a GPU has more power for its products than they can use, they reach
 * what cuBLAS does of such a peak, not 2.7 times what H100's do of its. */
Test(llm_device, no_power_takes_products_past_their_peak)
{
	static const struct {
		const char *gpu;
		bool far;
	} cases[] = {
		{"H20", true},          {"A40", true},      {"RTX 5090", true},
		{"A6000", true},        {"RTX 4090", true}, {"L40", true},
		{"RTX 6000 Ada", true}, {"H800", false},    {"H100", false}};
	const struct llm_gemm gemm = {
		.m = 8192, .n = 8192, .k = 8192, .batch = 1};
	struct llm_device device;
	struct dist_message message;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct llm_pace today;
		double share;

		cr_assert(eq(int,
			     llm_device_find(&device, cases[i].gpu, &message),
			     DIST_OK));
		today = llm_pace_of(&device, LLM_BF16);
		share = 2e9 * gemm.m * gemm.n * gemm.k /
			llm_gemm_ns(&device, LLM_BF16, &today, &gemm) /
			device.peak[LLM_BF16];
		cr_expect(device.far == cases[i].far, "%s", device.name);
		cr_expect(share > 0.6 && share < 1, "%s: %g", device.name,
			  share);
		llm_device_release(&device);
	}
}

/* Whether a GPU has steps of its own is what the tables of steps say. */
Test(llm_device, those_with_steps_are_known)
{
	const char *const names[] = {"H100", "GB300", "H100-PCIe", "H800"};
	struct dist_message message;
	struct llm_device device;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		okay(llm_device_find(&device, names[i], &message));
		cr_expect(device.seen == (i < 2), "%s", device.name);
		llm_device_release(&device);
	}
}

/* What was measured on another GPU was measured with that one's power. */
Test(llm_device, power_is_held_against_the_gpu_that_was_measured)
{
	static const struct {
		const char *gpu, *measured;
		double ratio;
	} cases[] = {
		{"A100-PCIe-80GB", "A100-PCIe-80GB", 1},
		{"A100-SXM-80GB", "A100-SXM-80GB", 1},
		{"GB300", "GB200", 1400. / 1200},
		{"H100-96GB-HBM2e-500W", "H100-SXM", 500. / 893 * 989 / 700},
		{"L40S", "A100-PCIe-80GB", 350. / 362 * 312 / 300},
	};
	struct llm_device device;
	struct dist_message message;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		cr_assert(eq(int,
			     llm_device_find(&device, cases[i].gpu, &message),
			     DIST_OK));
		cr_expect(eq(str, device.gemm_gpu, (char *)cases[i].measured));
		cr_expect(epsilon_eq(dbl, device.power_ratio, cases[i].ratio,
				     1e-9));
		llm_device_release(&device);
	}
}
