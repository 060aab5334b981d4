//! Serialised messages, written by hand: fields with numbers, one behind the other.

/// A message as bytes.
#[derive(Clone, Debug, Default)]
pub struct Message(pub Vec<u8>);

impl Message {
    pub fn number(mut self, field: u64, number: i64) -> Message {
        put(&mut self.0, field << 3);
        put(&mut self.0, number as u64);
        self
    }

    pub fn bytes(mut self, field: u64, bytes: impl AsRef<[u8]>) -> Message {
        put(&mut self.0, field << 3 | 2);
        put(&mut self.0, bytes.as_ref().len() as u64);
        self.0.extend_from_slice(bytes.as_ref());
        self
    }

    pub fn message(self, field: u64, message: Message) -> Message {
        self.bytes(field, message.0)
    }

    pub fn numbers(self, field: u64, numbers: &[i64]) -> Message {
        let mut packed = Vec::new();
        numbers.iter().for_each(|&number| put(&mut packed, number as u64));
        if packed.is_empty() { self } else { self.bytes(field, packed) }
    }
}

fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// An instruction of a shape that is written as text.
pub fn instruction(id: i64, name: &str, opcode: &str, shape: &str, operands: &[i64]) -> Message {
    let shape = tilework::xla::Shape::parse(shape).expect("a shape").to_proto().expect("a message");
    Message::default().bytes(1, name).bytes(2, opcode).bytes(3, shape).number(35, id).numbers(36, operands)
}

/// A computation; the last instruction is the root.
pub fn computation(id: i64, name: &str, instructions: Vec<Message>, root: i64) -> Message {
    let body =
        instructions.into_iter().fold(Message::default().bytes(1, name), |body, each| body.message(2, each));
    body.number(5, id).number(6, root)
}

/// A module whose last computation is the program, run in these orders.
pub fn module(computations: Vec<Message>, entry: (i64, &str), orders: &[(i64, Vec<i64>)]) -> Message {
    let head = Message::default().bytes(1, "m").bytes(2, entry.1);
    let module =
        computations.into_iter().fold(head, |module, each| module.message(3, each)).number(6, entry.0);
    let schedule = orders.iter().fold(Message::default(), |schedule, (id, order)| {
        let order = Message::default().numbers(1, order);
        schedule.message(1, Message::default().number(1, *id).message(2, order))
    });
    module.message(7, schedule)
}

/// A buffer assignment with one temporary allocation: instruction, offset and size of each value.
pub fn assignment(values: &[(i64, i64, i64)]) -> Message {
    let mut assignment = Message::default();
    let mut allocation = Message::default().number(2, 1 << 30);
    for (number, &(instruction, offset, size)) in values.iter().enumerate() {
        let number = number as i64;
        let place = Message::default().number(4, instruction);
        assignment =
            assignment.message(1, Message::default().number(1, number).number(2, size).message(3, place));
        allocation =
            allocation.message(9, Message::default().number(1, number).number(2, offset).number(3, size));
    }
    assignment.message(3, allocation)
}

/// An `HloProto`.
pub fn hlo(module: Message, assignment: Option<Message>) -> Vec<u8> {
    let hlo = Message::default().message(1, module);
    assignment.into_iter().fold(hlo, |hlo, assignment| hlo.message(3, assignment)).0
}
