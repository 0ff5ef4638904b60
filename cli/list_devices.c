/* list_devices.c - lockstep list devices: the GPUs of the catalogue, and what
 * kernels reach of their peaks. */
#include "cli/list.h"
#include "cli/refuse.h"
#include "model/llm/kernels.h"

const char list_devices_columns[] =
	"name;tflops_16|16-bit TFLOP/s;fp8_tflops|fp8;fp4_tflops|fp4;"
	"tf32_tflops|tf32;fp32_tflops|fp32;memory_gb|memory GB;"
	"memory_tb_s|TB/s;link_gb_s|links GB/s;host_gb_s|host "
	"GB/s;sms|SMs;power_w|W;gemm|GEMM;"
	"attention;attention_backward|backward;memory_share|memory;"
	"assumed|assumed;note|;source|";

/* A peak in TFLOP/s; nothing where it cannot. */
static struct dist__cell peak_cell(double peak)
{
	return peak > 0 ? cell_number(CELL_REAL, 6, peak / 1e12)
			: cell_text(NULL);
}

static void add_device(struct dist__rows *table, const struct llm_device *d)
{
	const struct llm_efficiency *reached = d->efficiency;
	double half =
		d->peak[LLM_BF16] > 0 ? d->peak[LLM_BF16] : d->peak[LLM_FP16];

	ADD_ROW(table, cell_copy(d->name), peak_cell(half),
		peak_cell(d->peak[LLM_FP8]), peak_cell(d->peak[LLM_FP4]),
		peak_cell(d->peak[LLM_TF32]), peak_cell(d->peak[LLM_FP32]),
		cell_real(d->memory_bytes / 1073741824.0),
		cell_real(d->memory_Bps / 1e12), cell_real(d->link_Bps / 1e9),
		d->host_Bps > 0 ? cell_real(d->host_Bps / 1e9)
				: cell_text(NULL),
		cell_int(d->sms), cell_real(d->power_w),
		cell_fixed(2, reached->gemm[d->peak[LLM_BF16] > 0 ? LLM_BF16
								  : LLM_FP16]),
		cell_fixed(2, reached->forward[LLM_FASTEST]),
		cell_fixed(2, reached->backward[LLM_FASTEST]),
		cell_fixed(2, d->copy_share),
		cell_copy(d->assumed[0] ? d->assumed : NULL),
		cell_copy(d->note[0] ? d->note : NULL), cell_copy(d->source));
}

int list_devices(struct dist__rows *table)
{
	struct llm_device *devices;
	struct dist_message message;
	size_t num;

	if (llm_device_list(&devices, &num, &message))
		return refuse("list", "%s", message.text);
	for (size_t i = 0; i < num; i++)
		add_device(table, &devices[i]);
	llm_device_list_release(devices, num);
	return DIST_EXIT_OK;
}
