package surgery

import "github.com/go-rntuple/go-rntuple/rntuple"

// A meter tells progress in bytes of the input files. Each file counts once,
// however many of the inputs are in it.
type meter struct {
	tell              func(done, total int64) // nil: nobody listens
	inputs            map[string]int64        // by path, how many are in the file
	total, done, told int64
}

func newMeter(jobs []*job) *meter {
	m := &meter{tell: jobs[0].Progress, inputs: map[string]int64{}}
	for _, j := range jobs {
		for _, in := range j.inputs {
			m.inputs[in.Path]++
		}
	}
	return m
}

// measure adds the inputs of a step to the total that progress is told of.
func (r *run) measure(n int, sources []*source) {
	bytes := int64(0)
	for i, in := range r.steps[n] {
		bytes += sources[i].Source.Size / r.meter.inputs[in.Path]
	}
	if r.inPlace && n == 0 {
		bytes = 0 // it is not copied
	}
	r.bytes = append(r.bytes, bytes)
	r.meter.total += bytes
}

// within returns a function that tells that the entries of a range before the given
// one are done. The whole range counts as the given number of bytes.
func (m *meter) within(r rntuple.EntryRange, bytes int64) func(entry int64) {
	return func(entry int64) {
		if r.Len() > 0 {
			m.at(m.done + int64(float64(entry-r.First)/float64(r.Len())*float64(bytes)))
		}
	}
}

// end tells that the given number of bytes more are done.
func (m *meter) end(bytes int64) {
	m.done += bytes
	m.at(m.done)
}

func (m *meter) at(done int64) {
	if m.tell != nil && done > m.told {
		m.told = done
		m.tell(done, m.total)
	}
}
