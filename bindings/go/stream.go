// SPDX-License-Identifier: MIT

package perfile

/*
#include <stdlib.h>
#include <perfile/profile.h>

enum { BATCH_SAMPLES = 512, BATCH_FRAMES = 1 << 16 };

// Samples that are copied at once, as a call from Go costs more than a sample. A longer stack than BATCH_FRAMES is cut.
struct batch {
    int result;
    uint32_t count, used;
    struct perfile_stream_sample samples[BATCH_SAMPLES];
    uint32_t first[BATCH_SAMPLES];
    uint32_t frames[BATCH_FRAMES];
    struct perfile_error error;
    const struct perfile_stream_sample *waiting; // for which there were not enough frames
};

static int fits(const struct batch *batch, uint32_t frames)
{
    return batch->count < BATCH_SAMPLES && (!batch->count || batch->used + frames <= BATCH_FRAMES);
}

static void fill(struct perfile_stream *stream, struct batch *batch)
{
    const struct perfile_stream_sample *sample = batch->waiting;

    batch->count = batch->used = 0;
    batch->result = 1;
    batch->waiting = NULL;
    while (sample || (batch->result = perfile_stream_next(stream, &sample, &batch->error)) > 0) {
        if (!fits(batch, sample->frame_count)) {
            batch->waiting = sample;
            return;
        }
        const uint32_t space = BATCH_FRAMES - batch->used;
        const uint32_t count = sample->frame_count < space ? sample->frame_count : space;
        batch->samples[batch->count] = *sample;
        batch->samples[batch->count].frame_count = count;
        batch->first[batch->count++] = batch->used;
        memcpy(batch->frames + batch->used, sample->frames, count * sizeof(*sample->frames));
        batch->used += count;
        sample = NULL;
    }
}
*/
import "C"

import "unsafe"

// Stream reads samples with complete stacks: callchains of all kinds, unwound stacks and inlined functions.
type Stream struct {
	pointer *C.struct_perfile_stream
	reader  *Reader
	batch   *C.struct_batch
	next    uint32
	comms   map[*C.char]string
}

// Sample is a sample of a stream.
type Sample struct {
	Time          uint64 // ns on the recording's clock; 0: not recorded
	Period        uint64 // what the event counted since the last sample
	IP            uint64
	Pid, Tid, CPU int32    // -1: not recorded
	Event         int32    // its number in Reader.Events; -1: not known
	Leaf          uint32   // the function of the sampled address, never an inlined one
	Frames        []uint32 // innermost first, at least one; valid until the next call of Next
	Comm          string   // the name of the thread
}

// Stream starts to read samples. The reader must be at its start, and is the stream's until that is closed.
func (r *Reader) Stream() (*Stream, error) {
	var failure C.struct_perfile_error
	if err := r.usable(); err != nil {
		return nil, err
	}
	stream := &Stream{reader: r, comms: map[*C.char]string{}}
	if code := C.perfile_stream_open(r.pointer, nil, &stream.pointer, &failure); code < 0 {
		return nil, failed(code, &failure)
	}
	r.lent = true
	stream.batch = (*C.struct_batch)(C.calloc(1, C.sizeof_struct_batch))
	stream.batch.result = 1
	return stream, nil
}

// Close ends the stream. It may be called twice.
func (s *Stream) Close() {
	if s.pointer != nil {
		C.perfile_stream_close(s.pointer)
		C.free(unsafe.Pointer(s.batch))
		s.pointer, s.batch, s.reader.lent = nil, nil, false
	}
}

// Next fills the next sample; false at the end. Samples before an error are delivered first.
func (s *Stream) Next(sample *Sample) (bool, error) {
	if s.pointer == nil {
		return false, errClosed
	}
	if s.next == uint32(s.batch.count) {
		if s.batch.result > 0 {
			C.fill(s.pointer, s.batch)
		} else {
			s.batch.count = 0
		}
		s.next = 0
		if s.batch.count == 0 {
			if s.batch.result < 0 {
				return false, failed(s.batch.result, &s.batch.error)
			}
			return false, nil
		}
	}
	s.take(sample)
	s.next++
	return true, nil
}

func (s *Stream) take(sample *Sample) {
	from, first := &s.batch.samples[s.next], s.batch.first[s.next]
	sample.Time, sample.Period, sample.IP = uint64(from.time), uint64(from.period), uint64(from.ip)
	sample.Pid, sample.Tid, sample.CPU = int32(from.pid), int32(from.tid), int32(from.cpu)
	sample.Leaf, sample.Event = uint32(from.leaf), -1
	if from.event != nil {
		sample.Event = int32(from.event.index)
	}
	frames := (*[C.BATCH_FRAMES]uint32)(unsafe.Pointer(&s.batch.frames))
	sample.Frames = frames[first : uint32(first)+uint32(from.frame_count)]
	comm, known := s.comms[from.comm] // equal names are equal pointers
	if !known {
		comm = text(from.comm)
		s.comms[from.comm] = comm
	}
	sample.Comm = comm
}

// Label is a frame as flame graphs name it.
func (s *Stream) Label(frame uint32) string {
	return text(C.perfile_stream_label(s.pointer, C.uint32_t(frame)))
}
