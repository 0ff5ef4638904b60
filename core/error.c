#include "lockstep/dist.h"

const char *dist_error_string(enum dist_error error)
{
	switch (error) {
	case DIST_OK:
		return "no error";
	case DIST_ERR_INVALID_ARGUMENT:
		return "invalid argument";
	case DIST_ERR_UNSUPPORTED:
		return "not supported by this back end";
	case DIST_ERR_UNAVAILABLE:
		return "back end not available on this machine";
	case DIST_ERR_NO_MEMORY:
		return "out of memory";
	case DIST_ERR_TIMEOUT:
		return "timed out";
	case DIST_ERR_MISMATCH:
		return "ranks disagree about the operation";
	case DIST_ERR_DEADLOCK:
		return "deadlock: no rank can ever move";
	case DIST_ERR_PEER_LOST:
		return "a peer was lost";
	case DIST_ERR_ABORTED:
		return "the group failed earlier";
	case DIST_ERR_RENDEZVOUS:
		return "the ranks did not find each other";
	case DIST_ERR_IO:
		return "input or output failed";
	case DIST_ERR_HAZARD:
		return "memory was touched while an operation held it";
	case DIST_ERR_REMOTE:
		return "the function failed on its worker";
	}
	return "unknown error";
}
