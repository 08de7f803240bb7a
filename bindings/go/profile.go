// SPDX-License-Identifier: MIT

package perfile

/*
#include <stdlib.h>
#include <perfile/profile.h>

static int open_profile(struct perfile_reader *reader, const char *keys, struct perfile_profile **profile,
                        struct perfile_error *error)
{
    struct perfile_profile_options options = PERFILE_PROFILE_OPTIONS_INIT;

    options.keys = *keys ? keys : NULL;
    return perfile_profile_open(reader, &options, profile, error);
}

// cgo does not see the macros.
static struct perfile_profile_event no_event(void)
{
    return (struct perfile_profile_event)PERFILE_PROFILE_EVENT_INIT;
}

static struct perfile_profile_sample no_sample(void)
{
    return (struct perfile_profile_sample)PERFILE_PROFILE_SAMPLE_INIT;
}

static struct perfile_profile_stack no_stack(void)
{
    return (struct perfile_profile_stack)PERFILE_PROFILE_STACK_INIT;
}

static struct perfile_profile_frame no_frame(void)
{
    return (struct perfile_profile_frame)PERFILE_PROFILE_FRAME_INIT;
}

static struct perfile_profile_function no_function(void)
{
    return (struct perfile_profile_function)PERFILE_PROFILE_FUNCTION_INIT;
}

static struct perfile_module no_module(void)
{
    return (struct perfile_module)PERFILE_MODULE_INIT;
}

*/
import "C"

import (
	"fmt"
	"sort"
	"unsafe"
)

// Profile is the samples of a recording, added up. It never changes: any number of goroutines may read it.
type Profile struct {
	pointer *C.struct_perfile_profile
}

// Profile reads all samples. They are kept apart by event and stack, and by keys such as "comm,cpu".
func (r *Reader) Profile(keys string) (*Profile, error) {
	var failure C.struct_perfile_error
	if err := r.usable(); err != nil {
		return nil, err
	}
	list := C.CString(keys)
	defer C.free(unsafe.Pointer(list))
	profile := &Profile{}
	if code := C.open_profile(r.pointer, list, &profile.pointer, &failure); code < 0 {
		return nil, failed(code, &failure)
	}
	return profile, nil
}

// Close frees the profile. It may be called twice.
func (p *Profile) Close() {
	C.perfile_profile_close(p.pointer)
	p.pointer = nil
}

// ProfileEvent is what was counted.
type ProfileEvent struct {
	Name, Unit string // the unit of periods
}

// Events has the events in the order of their numbers.
func (p *Profile) Events() []ProfileEvent {
	var events []ProfileEvent
	for i := C.size_t(0); i < C.perfile_profile_event_count(p.pointer); i++ {
		event := C.no_event()
		if C.perfile_profile_event_at(p.pointer, i, &event) == 0 {
			events = append(events, ProfileEvent{text(event.name), text(event.unit)})
		}
	}
	return events
}

// Row is the samples with the same stack and keys.
type Row struct {
	Event           uint32
	Stack           uint32 // see Frames
	Leaf            uint32 // the frame of the sampled address
	Samples, Period uint64
	Comm            string
}

// RowCount is how many rows there are.
func (p *Profile) RowCount() int { return int(C.perfile_profile_sample_count(p.pointer)) }

// Row is the row of a number.
func (p *Profile) Row(number int) (Row, error) {
	row := C.no_sample()
	if code := C.perfile_profile_sample_at(p.pointer, C.size_t(number), &row); code < 0 {
		return Row{}, noSuch("row", number)
	}
	values := unsafe.Slice((*uint64)(unsafe.Pointer(row.values)), int(row.value_count))
	made := Row{uint32(row.event), uint32(row.stack), uint32(row.leaf), values[0], 0, text(row.comm)}
	if len(values) > 1 {
		made.Period = values[1]
	}
	return made, nil
}

// Frames are those of a stack, innermost first.
func (p *Profile) Frames(stack uint32) ([]uint32, error) {
	var frames []uint32
	for next := stack; next != NoID; {
		node := C.no_stack()
		if code := C.perfile_profile_stack_at(p.pointer, C.size_t(next), &node); code < 0 {
			return nil, noSuch("stack", int(next))
		}
		frames = append(frames, uint32(node.frame))
		next = uint32(node.parent)
	}
	return frames, nil
}

// FunctionOf is the number of the function of a frame.
func (p *Profile) FunctionOf(frame uint32) (uint32, error) {
	found := C.no_frame()
	if code := C.perfile_profile_frame_at(p.pointer, C.size_t(frame), &found); code < 0 {
		return NoID, noSuch("frame", int(frame))
	}
	return uint32(found.function), nil
}

// Function is a function, and what it weighs.
type Function struct {
	Name                    string // demangled; "": no symbol
	Label                   string // as flame graphs name it
	Module                  string // "": nothing is mapped there
	SelfSamples, SelfPeriod uint64
}

// Function is the function of a number, without weights.
func (p *Profile) Function(number uint32) (Function, error) {
	found, module := C.no_function(), C.no_module()
	if code := C.perfile_profile_function_at(p.pointer, C.size_t(number), &found); code < 0 {
		return Function{}, noSuch("function", int(number))
	}
	made := Function{Name: text(found.name), Label: text(found.label)}
	if C.perfile_profile_module_at(p.pointer, C.size_t(found.module), &module) == 0 {
		made.Module = text(module.short_name)
	}
	return made, nil
}

// TopFunctions are the functions that samples of an event were taken in, heaviest first.
func (p *Profile) TopFunctions(event uint32) ([]Function, error) {
	weights := map[uint32]*Function{}
	var numbers []uint32
	for i := 0; i < p.RowCount(); i++ {
		row, err := p.Row(i)
		if err != nil {
			return nil, err
		}
		if row.Event != event {
			continue
		}
		number, err := p.FunctionOf(row.Leaf)
		if err != nil {
			return nil, err
		}
		if weights[number] == nil {
			function, err := p.Function(number)
			if err != nil {
				return nil, err
			}
			weights[number] = &function
			numbers = append(numbers, number)
		}
		weights[number].SelfSamples += row.Samples
		weights[number].SelfPeriod += row.Period
	}
	sort.Slice(numbers, func(a, b int) bool {
		x, y := weights[numbers[a]].SelfPeriod, weights[numbers[b]].SelfPeriod
		return x > y || (x == y && numbers[a] < numbers[b])
	})
	functions := make([]Function, 0, len(numbers))
	for _, number := range numbers {
		functions = append(functions, *weights[number])
	}
	return functions, nil
}

func noSuch(what string, number int) error {
	return fmt.Errorf("perfile: the profile has no %s %d", what, number)
}
