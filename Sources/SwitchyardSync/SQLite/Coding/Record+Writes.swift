import Switchyard

/// Writes and batches in records.
extension RecordWriter {
    mutating func write(_ write: DocumentWrite) {
        self.write(write.path)
        switch write.operation {
        case .set(let data):
            self.write(byte: 0)
            self.write(data)
        case .patch(let data, let mask):
            self.write(byte: 1)
            self.write(data)
            self.write(mask) { $0.write($1) }
        case .delete: self.write(byte: 2)
        case .verify: self.write(byte: 3)
        }
        self.write(write.transforms) { writer, transform in
            writer.write(transform.field)
            writer.write(transform.operation)
        }
        switch write.precondition {
        case .none: self.write(byte: 0)
        case .exists(let flag): self.write(byte: flag ? 2 : 1)
        case .updateTime(let time):
            self.write(byte: 3)
            self.write(time)
        }
    }

    private mutating func write(_ operation: FieldTransform.Operation) {
        switch operation {
        case .serverTime: write(byte: 0)
        case .increment(let number):
            write(byte: 1)
            write(number.value)
        case .maximum(let number):
            write(byte: 2)
            write(number.value)
        case .minimum(let number):
            write(byte: 3)
            write(number.value)
        case .arrayUnion(let elements):
            write(byte: 4)
            write(elements) { $0.write($1) }
        case .arrayRemove(let elements):
            write(byte: 5)
            write(elements) { $0.write($1) }
        }
    }

    /// Without its number, which is a key.
    mutating func write(_ batch: QueuedBatch) {
        write(batch.id)
        write(batch.writes) { $0.write($1) }
        write(batch.baseWrites) { $0.write($1) }
        write(batch.queuedAt)
        write(batch.attempts)
        write(batch.lastError) { $0.write($1.rawValue) }
        write(batch.provisional.sorted()) { $0.write($1) }
        write(batch.isAddition)
    }

    mutating func write(_ batch: RefusedBatch) {
        write(batch.id)
        write(batch.writes) { $0.write($1) }
        write(batch.refusedAt)
        write(batch.code.rawValue)
        write(batch.message)
    }
}

extension [DocumentTag?] {
    var record: [UInt8] {
        var record = RecordWriter()
        record.write(self) { $0.write($1) { $0.write($1.rawValue) } }
        return record.bytes
    }
}

extension RecordReader {
    mutating func bases() throws(StorageError) -> [DocumentTag?] {
        try array { reader throws(StorageError) in
            try reader.optional { reader throws(StorageError) in DocumentTag(rawValue: try reader.string()) }
        }
    }

    mutating func documentWrite() throws(StorageError) -> DocumentWrite {
        let path = try path()
        let operation: DocumentWrite.Operation
        switch try byte() {
        case 0: operation = .set(try documentData())
        case 1:
            let data = try documentData()
            operation = .patch(data, mask: try array { reader throws(StorageError) in try reader.field() })
        case 2: operation = .delete
        case 3: operation = .verify
        default: throw RecordReader.damage
        }
        let transforms = try array { reader throws(StorageError) in
            let field = try reader.field()
            return FieldTransform(field, try reader.transform())
        }
        let precondition: DocumentWrite.Precondition
        switch try byte() {
        case 0: precondition = .none
        case 1: precondition = .exists(false)
        case 2: precondition = .exists(true)
        case 3: precondition = .updateTime(try timestamp())
        default: throw RecordReader.damage
        }
        return DocumentWrite(path: path, operation: operation, transforms: transforms, precondition: precondition)
    }

    private mutating func transform() throws(StorageError) -> FieldTransform.Operation {
        switch try byte() {
        case 0: .serverTime
        case 1: .increment(try number())
        case 2: .maximum(try number())
        case 3: .minimum(try number())
        case 4: .arrayUnion(try array { reader throws(StorageError) in try reader.value() })
        case 5: .arrayRemove(try array { reader throws(StorageError) in try reader.value() })
        default: throw RecordReader.damage
        }
    }

    private mutating func number() throws(StorageError) -> FieldTransform.Number {
        switch try value() {
        case .integer(let number): .integer(number)
        case .double(let number): .double(number)
        default: throw RecordReader.damage
        }
    }

    mutating func queuedBatch(number: Int) throws(StorageError) -> QueuedBatch {
        let id = try string()
        let writes = try array { reader throws(StorageError) in try reader.documentWrite() }
        let baseWrites = try array { reader throws(StorageError) in try reader.documentWrite() }
        let queuedAt = try timestamp()
        let attempts = try int()
        let lastError = try optional { reader throws(StorageError) in StorageError.Code(rawValue: try reader.string()) }
        // Earlier versions queued no such batches.
        let isOld = isAtEnd
        let provisional = isOld ? [] : try array { reader throws(StorageError) in try reader.path() }
        return QueuedBatch(
            number: number, id: id, writes: writes, baseWrites: baseWrites, queuedAt: queuedAt, attempts: attempts,
            lastError: lastError, provisional: Set(provisional), isAddition: isOld ? false : try bool())
    }

    mutating func refusedBatch() throws(StorageError) -> RefusedBatch {
        let id = try string()
        let writes = try array { reader throws(StorageError) in try reader.documentWrite() }
        let refusedAt = try timestamp()
        let code = StorageError.Code(rawValue: try string())
        return RefusedBatch(id: id, writes: writes, refusedAt: refusedAt, code: code, message: try string())
    }
}
