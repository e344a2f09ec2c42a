package linearizability

import "fmt"

// Validate says whether the history keeps the conventions without which no check means anything:
// unique values, steps from 1, and no operation that returns before it is invoked.
func (h *History) Validate() error {
	sent := make(map[Value]int, len(h.Sends))
	for i := range h.Sends {
		s := &h.Sends[i]
		if err := validInterval(s.Invoke, s.Return); err != nil {
			return fmt.Errorf("send %d of client %d: %w", i, s.Client, err)
		}
		if len(s.Records) == 0 {
			return fmt.Errorf("send %d of client %d has no records", i, s.Client)
		}
		for _, value := range s.Records {
			if first, ok := sent[value]; ok {
				return fmt.Errorf("value %s is sent twice, by sends %d and %d", value, first, i)
			}
			sent[value] = i
		}
	}
	for i := range h.Polls {
		if err := validInterval(h.Polls[i].Invoke, h.Polls[i].Return); err != nil {
			return fmt.Errorf("poll %d of client %d: %w", i, h.Polls[i].Client, err)
		}
	}
	for i := range h.Lists {
		if err := validInterval(h.Lists[i].Invoke, h.Lists[i].Return); err != nil {
			return fmt.Errorf("list offsets %d of client %d: %w", i, h.Lists[i].Client, err)
		}
	}
	return nil
}

func validInterval(invoke, end Step) error {
	if invoke < 1 || orNever(end) < invoke {
		return fmt.Errorf("interval [%d, %d] is not one", invoke, end)
	}
	return nil
}
