import Foundation
import Switchyard
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSync

@Suite struct RecordTests {
    private func read<Value>(
        _ bytes: [UInt8], _ body: (inout RecordReader) throws(StorageError) -> Value
    ) throws -> (value: Value, isWhole: Bool) {
        try bytes.withUnsafeBytes { buffer in
            var reader = try RecordReader(buffer)
            let value = try body(&reader)
            return (value, reader.isAtEnd)
        }
    }

    /// - Parameter added: How many bytes at the end a record of an earlier version lacks.
    private func survives<Value: Equatable>(
        _ value: Value, added: Int = 0, _ write: (inout RecordWriter) -> Void,
        _ body: (inout RecordReader) throws(StorageError) -> Value
    ) throws {
        var writer = RecordWriter()
        write(&writer)
        let (back, isWhole) = try read(writer.bytes, body)
        #expect(back == value)
        #expect(isWhole)
        // Cut anywhere, it is no record any more, and nothing worse.
        for length in 0..<writer.bytes.count where added == 0 || length != writer.bytes.count - added {
            #expect(throws: StorageError.self) { try read(Array(writer.bytes.prefix(length)), body) }
        }
    }

    @Test(arguments: 0..<RunSize.full(40, part: 10)) func `Rows of every shape are read as they were written`(seed: Int)
        throws
    {
        var random = RandomRows(seed: UInt64(seed))
        let value = random.value()
        try survives(value, { $0.write(value) }, { reader throws(StorageError) in try reader.value() })
        // Tags and bases have columns of their own.
        var document = random.document()
        document.tag = nil
        try survives(document, { $0.write(document) }) { reader throws(StorageError) in
            try reader.cachedDocument(at: document.path)
        }
        var batch = random.batch(number: 7)
        batch.bases = nil
        var names = RecordWriter()
        names.write(batch.provisional.sorted()) { $0.write($1) }
        names.write(batch.isAddition)
        let news = names.bytes.count - RecordWriter().bytes.count
        try survives(
            batch, added: news, { $0.write(batch) },
            { reader throws(StorageError) in try reader.queuedBatch(number: 7) })
        let query = random.query()
        try survives(query, { $0.write(query) }, { reader throws(StorageError) in try reader.query() })
        let target = random.target(id: 2)
        try survives(target.target, { $0.write(target.target) }) { reader throws(StorageError) in
            try reader.watchTarget()
        }
        try survives(target, added: 1, { $0.write(target) }) { reader throws(StorageError) in
            try reader.targetRecord(id: 2, target: target.target)
        }
        let globals = random.globals()
        var version = RecordWriter()
        version.write(globals.highestVersion)
        let added = version.bytes.count - RecordWriter().bytes.count
        try survives(
            globals, added: added, { $0.write(globals) }, { reader throws(StorageError) in try reader.globals() })
    }

    @Test func `Numbers are exact at their limits`() throws {
        for number: Int64 in [.min, .min + 1, -129, -128, -65, -64, -1, 0, 1, 63, 64, 127, 128, 1 << 53, .max] {
            try survives(number, { $0.write(number) }, { reader throws(StorageError) in try reader.integer() })
        }
        for number: UInt64 in [0, 127, 128, 1 << 62, 1 << 63, .max] {
            try survives(
                number, { $0.write(unsigned: number) }, { reader throws(StorageError) in try reader.unsigned() })
        }
    }

    @Test func `An estimate stays one`() throws {
        let time = Timestamp(clampingSeconds: -62_135_596_800, nanoseconds: 999_999_999, isEstimate: true)
        try survives(time, { $0.write(time) }, { reader throws(StorageError) in try reader.timestamp() })
        let value = DocumentValue.timestamp(time)
        try survives(value, { $0.write(value) }, { reader throws(StorageError) in try reader.value() })
    }

    @Test(arguments: 0..<20) func `Damaged bytes give an error or a value, never more`(seed: Int) throws {
        var random = RandomRows(seed: UInt64(seed) &+ 1000)
        var writer = RecordWriter()
        writer.write(random.batch(number: 1))
        for _ in 0..<300 {
            var bytes = writer.bytes
            for _ in 0..<random.number(1...4) {
                bytes[random.number(0...(bytes.count - 1))] = UInt8(random.number(0...255))
            }
            _ = try? read(bytes) { reader throws(StorageError) in try reader.queuedBatch(number: 1) }
        }
    }

    @Test(arguments: 0..<20) func `Some fields of a document are read as when all are`(seed: Int) throws {
        var random = RandomRows(seed: UInt64(seed) &+ 2000)
        for _ in 0..<100 {
            var document = random.document()
            document.tag = nil
            var writer = RecordWriter()
            writer.write(document)
            let names = random.pick([["a"], ["é", "a"], ["c.d", "missing"], []])
            let (seen, _) = try read(writer.bytes) { reader throws(StorageError) in
                try reader.cachedDocument(at: document.path, fields: names)
            }
            var expected = document
            expected.data = document.data.map { data in
                DocumentData(names.compactMap { name in data[name].map { (name, $0) } })
            }
            #expect(seen == expected)
            var bytes = writer.bytes
            bytes[random.number(1...(bytes.count - 1))] = UInt8(random.number(0...255))
            _ = try? read(bytes) { reader throws(StorageError) in
                try reader.cachedDocument(at: document.path, fields: names)
            }
        }
    }

    @Test func `Endless nesting is refused before it exhausts the stack, read or passed over`() {
        let nested = Array(repeating: [UInt8(12), 1], count: 100_000).joined()
        let value = [RecordWriter.version] + nested
        #expect(throws: StorageError.self) { try read(value) { reader throws(StorageError) in try reader.value() } }
        let data = [RecordWriter.version, 1, 1, UInt8(ascii: "a")] + nested
        #expect(throws: StorageError.self) {
            try read(data) { reader throws(StorageError) in try reader.documentData(only: ["b"]) }
        }
    }

    @Test func `A record of an unknown form is refused`() {
        #expect(throws: StorageError.self) { try read([2, 0]) { reader throws(StorageError) in try reader.value() } }
        #expect(throws: StorageError.self) { try read([]) { reader throws(StorageError) in try reader.value() } }
    }
}
