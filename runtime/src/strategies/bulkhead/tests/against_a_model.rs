//! Any sequence of steps, on the bulkhead and on plain lists.

use super::*;

/// Who runs, who waits, and the limits: everything a bulkhead is.
#[derive(Default)]
struct Model {
    running: Vec<usize>,
    line: VecDeque<usize>,
    slots: usize,
    queue: usize,
}

impl Model {
    fn enter(&mut self, id: usize) -> bool {
        let free = self.line.is_empty() && self.running.len() < self.slots;
        self.running.extend(free.then_some(id));
        free
    }

    fn enqueue(&mut self, id: usize) -> bool {
        let room = self.line.len() < self.queue;
        self.line.extend(room.then_some(id));
        room
    }

    fn leave(&mut self, id: usize) {
        self.running.retain(|it| *it != id);
        self.line.retain(|it| *it != id);
        self.serve();
    }

    fn serve(&mut self) {
        while self.running.len() < self.slots {
            let Some(next) = self.line.pop_front() else { return };
            self.running.push(next);
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Op {
    TryEnter,
    Enqueue,
    Poll(prop::sample::Index),
    Drop(prop::sample::Index),
    GiveUp(prop::sample::Index),
    Resize(u32, u32),
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let index = any::<prop::sample::Index>;
    let op = prop_oneof![
        3 => Just(Op::TryEnter),
        6 => Just(Op::Enqueue),
        4 => index().prop_map(Op::Poll),
        5 => index().prop_map(Op::Drop),
        2 => index().prop_map(Op::GiveUp),
        1 => (0..5_u32, 0..5_u32).prop_map(|(slots, queue)| Op::Resize(slots, queue)),
    ];
    prop::collection::vec(op, 1..120)
}

enum Place {
    Slot(#[allow(dead_code)] Slot), // held, and given back by being dropped
    Waiting(Waiting),
}

/// A caller, what it holds, and its waker.
struct Caller {
    id: usize,
    place: Place,
    woken: Arc<Counting>,
    waker: Waker,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_sequence_of_events_leaves_it_as_it_leaves_the_model(
        slots in 0..4_u32, queue in 0..4_u32, ops in ops(),
    ) {
        let bulkhead = new_bulkhead(slots, queue);
        let mut model = Model { slots: slots as usize, queue: queue as usize, ..Model::default() };
        let mut peaks = (0, 0);
        let mut callers: Vec<Caller> = Vec::new();
        for (id, op) in ops.into_iter().enumerate() {
            let (woken, waker) = Counting::new();
            let pick = |index: prop::sample::Index| (!callers.is_empty()).then(|| index.index(callers.len()));
            match op {
                Op::TryEnter => {
                    let slot = bulkhead.try_enter();
                    prop_assert_eq!(slot.is_some(), model.enter(id));
                    callers.extend(slot.map(|slot| Caller { id, place: Place::Slot(slot), woken, waker }));
                }
                Op::Enqueue => {
                    let refused = bulkhead.full();
                    let place = match bulkhead.enqueue(waker.clone()) {
                        Queued::Slot(slot) => {
                            prop_assert!(model.enter(id));
                            Some(Place::Slot(slot))
                        }
                        Queued::Waiting(waiting) => {
                            prop_assert!(!model.enter(id) && model.enqueue(id));
                            Some(Place::Waiting(waiting))
                        }
                        Queued::Full(full) => {
                            prop_assert!(!model.enter(id) && !model.enqueue(id));
                            prop_assert_eq!(refused, Some(full));
                            None
                        }
                    };
                    prop_assert_eq!(refused.is_some(), place.is_none(), "one read says the same");
                    callers.extend(place.map(|place| Caller { id, place, woken, waker }));
                }
                Op::Poll(index) => if let Some(at) = pick(index) {
                    let caller = &mut callers[at];
                    if let Place::Waiting(waiting) = &mut caller.place {
                        match waiting.poll_slot(&Context::from_waker(&caller.waker)) {
                            Poll::Ready(slot) => {
                                prop_assert!(model.running.contains(&caller.id));
                                caller.place = Place::Slot(slot);
                            }
                            Poll::Pending => prop_assert!(model.line.contains(&caller.id)),
                        }
                    }
                }
                Op::Drop(index) => if let Some(at) = pick(index) {
                    let caller = callers.swap_remove(at);
                    drop(caller.place);
                    model.leave(caller.id);
                }
                Op::GiveUp(index) => if let Some(at) = pick(index) {
                    let caller = callers.swap_remove(at);
                    if let Place::Waiting(waiting) = caller.place {
                        let late = waiting.give_up();
                        prop_assert_eq!(late.is_some(), model.running.contains(&caller.id));
                    }
                    model.leave(caller.id);
                }
                Op::Resize(slots, queue) => {
                    bulkhead.resize(Limits { slots, queue });
                    (model.slots, model.queue) = (slots as usize, queue as usize);
                    model.serve();
                }
            }
            peaks = (peaks.0.max(model.running.len()), peaks.1.max(model.line.len()));
            let now = bulkhead.occupancy();
            let seen = [now.running, now.queued, now.slots, now.queue, now.peak_running, now.peak_queued];
            let modelled =
                [model.running.len(), model.line.len(), model.slots, model.queue, peaks.0, peaks.1];
            prop_assert_eq!(seen.map(|figure| figure as usize), modelled);
            for caller in &callers {
                if let Place::Waiting(_) = caller.place {
                    let is_served = model.running.contains(&caller.id);
                    prop_assert_eq!(caller.woken.count(), usize::from(is_served), "woken once, when served");
                }
            }
        }
        drop(callers);
        assert_all_free(bulkhead);
    }
}
