import Foundation
import Switchyard
import SwitchyardMock
import SwitchyardTestSupport
import Testing

@Suite struct WriteTests {
    static let path: StoragePath = "c/d"

    @Test func `A batch without writes does not pass the check that providers make`() {
        let error = #expect(throws: StorageError.self) { try WriteBatch([]).checked() }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message == "A batch needs at least one write.")
    }

    /// A write as data, mask and the fields of its transforms.
    struct Parts: Equatable {
        var data: DocumentData?
        var mask: [String]?
        var transforms: [String]

        init(_ data: DocumentData?, _ mask: [String]?, _ transforms: [String] = []) {
            (self.data, self.mask, self.transforms) = (data, mask, transforms)
        }

        init(_ write: DocumentWrite) {
            transforms = write.transforms.map(\.field.description)
            switch write.operation {
            case .set(let data): (self.data, mask) = (data, nil)
            case .patch(let data, let mask): (self.data, self.mask) = (data, mask.map(\.description))
            case .delete, .verify: (data, mask) = (nil, nil)
            }
        }
    }

    static let sets: [(WriteFields, Parts)] = [
        (["a": 1, "b": "x"], Parts(["a": 1, "b": "x"], nil)),
        ([:], Parts([:], nil)),
        (["a": 1, "b": .serverTime], Parts(["a": 1], nil, ["b"])),
        (["a": 1, "b": ["c": .serverTime]], Parts(["a": 1], nil, ["b.c"])),
        (["a": ["b": [:], "c": .serverTime]], Parts(["a": ["b": [:]]], nil, ["a.c"])),
        (["a.b": ["c.d": .increment(1)]], Parts([:], nil, ["`a.b`.`c.d`"])),
        (["a": .serverTime, "b": .arrayUnion(1), "c": .arrayRemove(1)], Parts([:], nil, ["a", "b", "c"])),
    ]

    @Test(arguments: sets)
    func `A set keeps names as they are and cuts transforms out`(fields: WriteFields, parts: Parts) throws {
        #expect(Parts(try .set(Self.path, fields)) == parts)
        #expect(Parts(try .create(Self.path, fields)) == parts)
        #expect(try DocumentWrite.create(Self.path, fields).precondition == .exists(false))
    }

    static let merges: [(WriteFields, Parts)] = [
        ([:], Parts([:], [])),
        (["h": ["g": 3, "f": 4]], Parts(["h": ["g": 3, "f": 4]], ["h.g", "h.f"])),
        (["h": .of(["g": 3, "f": 4] as DocumentData)], Parts(["h": ["g": 3, "f": 4]], ["h.f", "h.g"])),
        (["h": [:], "i": .of([:] as DocumentData)], Parts(["h": [:], "i": [:]], ["h", "i"])),
        (["a": 1, "b": ["c": .delete]], Parts(["a": 1], ["a", "b.c"])),
        (["a": 1, "b": .serverTime], Parts(["a": 1], ["a"], ["b"])),
        (["a": .serverTime], Parts([:], [], ["a"])),
        (["a": 1, "b": ["c": .arrayUnion(1)]], Parts(["a": 1], ["a"], ["b.c"])),
    ]

    @Test(arguments: merges)
    func `A merge names every leaf`(fields: WriteFields, parts: Parts) throws {
        #expect(Parts(try .merge(Self.path, fields)) == parts)
    }

    static let maskedMerges: [(WriteFields, [FieldPath], Parts)] = [
        (["a": 1, "b": 2], ["a"], Parts(["a": 1], ["a"])),
        (["h": ["g": 4, "f": 5]], ["h.g"], Parts(["h": ["g": 4]], ["h.g"])),
        (["h": ["f": 5, "g": 6], "e": 7], ["h"], Parts(["h": ["f": 5, "g": 6]], ["h"])),
        (["*": ["~": true]], ["`*`.`~`"], Parts(["*": ["~": true]], ["`*`.`~`"])),
        (["a": 1, "b": ["c": .delete]], ["a", "b.c"], Parts(["a": 1], ["a", "b.c"])),
        (["a": 1, "b": .serverTime], ["a", "b"], Parts(["a": 1], ["a"], ["b"])),
        (["a": 1, "b": .serverTime], ["a"], Parts(["a": 1], ["a"])),
        (["a": 1, "b": .serverTime], ["b"], Parts([:], [], ["b"])),
        (["h": ["f": 5, "g": .serverTime], "e": 7], ["h"], Parts(["h": ["f": 5]], ["h"], ["h.g"])),
        (["h": ["g": .serverTime], "e": 7], ["h"], Parts([:], ["h"], ["h.g"])),
    ]

    @Test(arguments: maskedMerges)
    func `A merge with a mask writes what the mask names`(fields: WriteFields, mask: [FieldPath], parts: Parts) throws {
        #expect(Parts(try .merge(Self.path, fields, mask: mask)) == parts)
    }

    static let updates: [(FieldUpdates, Parts)] = [
        (["a": 1, "b": .delete], Parts(["a": 1], ["a", "b"])),
        (["a.b.c": 1, "`x.y`": 2], Parts(["a": ["b": ["c": 1]], "x.y": 2], ["a.b.c", "`x.y`"])),
        (["a": .serverTime], Parts([:], [], ["a"])),
        (["a": 1, "b": ["c": .serverTime]], Parts(["a": 1], ["a", "b"], ["b.c"])),
        (["a.b": 7, "a.c": .serverTime], Parts(["a": ["b": 7]], ["a.b"], ["a.c"])),
        (["a": ["b": [:], "c": .serverTime]], Parts(["a": ["b": [:]]], ["a"], ["a.c"])),
        (["a": ["b.c": 1]], Parts(["a": ["b.c": 1]], ["a"])),
    ]

    @Test(arguments: updates)
    func `An update splits only the names at the top`(updates: FieldUpdates, parts: Parts) throws {
        let write = try DocumentWrite.update(Self.path, updates)
        #expect(Parts(write) == parts)
        #expect(write.precondition == .exists(true))
    }

    static func nested(_ levels: Int) -> DocumentValue {
        (0..<levels).reduce(1 as DocumentValue) { inner, level in
            level.isMultiple(of: 2) ? .map(["m": inner]) : .array([inner])
        }
    }

    @Test func `What no document can hold is refused before anything is sent`() throws {
        let path = Self.path
        let large = FieldValue.of(String(repeating: "x", count: DocumentLimits.maximumBytes))
        let attempts: [() throws -> DocumentWrite] = [
            { try .set(path, ["a": .delete]) },
            { try .create(path, ["a": ["b": .delete]]) },
            { try .set(path, ["": 1]) },
            { try .set(path, ["__a__": 1]) },
            { try .set(path, ["m": ["__name__": 1]]) },
            { try .set(path, ["m": .of(["__x__": 1] as DocumentData)]) },
            { try .set(path, [String(repeating: "n", count: 1501): 1]) },
            { try .set(path, ["a": [[1]]]) },
            { try .set(path, ["a": .value(Self.nested(21))]) },
            { try .merge(path, ["a": .value(Self.nested(21))]) },
            { try .update(path, ["a": .value(Self.nested(21))]) },
            { try .set(path, ["a": .arrayUnion(.array([1]))]) },
            { try .set(path, ["a": .arrayUnion(Self.nested(20))]) },
            { try .set(path, ["a": large]) },
            { try .merge(path, ["a": large]) },
            { try .update(path, ["a": large]) },
            { try .merge(path, ["a": 1], mask: ["a", "b"]) },
            { try .merge(path, ["a": ["b": 1]], mask: ["a", "a.b"]) },
            { try .merge(path, ["a": 1, "b": .delete], mask: ["a"]) },
            { try .update(path, [:]) },
            { try .update(path, ["a": 1, "a.b": 2]) },
            { try .update(path, ["a.b": .serverTime, "a": 2]) },
            { try .update(path, ["a": 1, "a": 2]) },
            { try .update(path, ["a": ["b": .delete]]) },
            { try .update(path, [.documentID: 1]) },
            { try .update(path, [.documentID: .delete]) },
            {
                try .update(path, FieldUpdates([(FieldPath(unchecked: Array(repeating: "x", count: 5000)), .delete)]))
            },
        ]
        for (index, attempt) in attempts.enumerated() {
            let error = #expect(throws: StorageError.self, "attempt \(index)") { try attempt() }
            #expect(error?.code == .invalidArgument)
        }
        _ = try DocumentWrite.set(path, ["a": .value(Self.nested(20))])
        _ = try DocumentWrite.set(path, ["a": .of(String(repeating: "x", count: 1_048_000))])
    }

    @Test func `Batches are neither empty nor larger than the provider takes`() async throws {
        var capabilities = StorageCapabilities.all
        capabilities.maximumBatchSize = 2
        let storage = ToyStorage(capabilities: capabilities)
        for batch in [WriteBatch(), WriteBatch(["a/1", "a/2", "a/3"].map { .delete($0) })] {
            let error = await #expect(throws: StorageError.self) { try await storage.commit(batch) }
            #expect(error?.code == .invalidArgument)
        }
        #expect(storage.commits.isEmpty)
    }

    static let operations: [(FieldTransform.Operation, DocumentValue?, DocumentValue)] = [
        (.increment(1), .integer(.max), .integer(.max)), (.increment(-1), .integer(.min), .integer(.min)),
        (.increment(2), 3, 5), (.increment(.double(0.5)), 3, .double(3.5)),
        (.increment(1), .double(0.5), .double(1.5)),
        (.increment(2), nil, 2), (.increment(2), "text", 2),
        (.maximum(3), 2, 3), (.maximum(3), .double(3), .double(3)), (.maximum(3), nil, 3), (.maximum(3), "x", 3),
        (.maximum(.double(.nan)), 3, .double(.nan)), (.minimum(3), .double(.nan), .double(.nan)),
        (.minimum(3), 4, 3),
        (.arrayUnion([2, 3, 3]), [1, .double(2)], [1, .double(2), 3]), (.arrayUnion([1]), "x", [1]),
        (.arrayRemove([1]), [1, 2, .double(1)], [2]), (.arrayRemove([1]), nil, []),
        (.serverTime, 5, .timestamp(Timestamp(microseconds: 7))),
    ]

    @Test(arguments: operations)
    func `Transforms make of a field what servers make of it`(
        operation: FieldTransform.Operation, old: DocumentValue?, new: DocumentValue
    ) {
        #expect(operation.applied(to: old, serverTime: Timestamp(microseconds: 7)) == new)
    }

    @Test(arguments: 1...5)
    func `A merge of random fields changes what it names and nothing else`(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        for _ in 0..<60 {
            let old = random.data()
            let fields = random.data()
            guard let merge = try? DocumentWrite.merge(Self.path, WriteFields(fields)),
                case .patch(_, let mask) = merge.operation
            else { continue }
            let new = try #require(merge.applied(to: old, serverTime: .distantPast).data)
            for field in mask { #expect(new[field] == fields[field]) }
            for (name, value) in old where !mask.contains(where: { $0.components[0].utf8Equals(name) }) {
                #expect(new[name] == value)
            }
            #expect(merge.applied(to: new, serverTime: .distantPast).data == new, "merging twice changes nothing")
            #expect(
                try DocumentWrite.set(Self.path, data: fields).applied(to: old, serverTime: .distantPast).data == fields
            )
        }
    }

    @Test func `More than 500 transforms of one document are refused, in one write and over a batch`() async throws {
        func increments(_ range: Range<Int>) -> WriteFields {
            WriteFields(range.map { ("f\($0)", .increment(1)) })
        }
        _ = try DocumentWrite.merge("a/1", increments(0..<500))
        #expect(throws: StorageError.self) { try DocumentWrite.merge("a/1", increments(0..<501)) }
        #expect(throws: StorageError.self) { try DocumentWrite.set("a/1", increments(0..<501)) }
        #expect(throws: StorageError.self) {
            var updates: FieldUpdates = [:]
            for index in 0..<501 { updates.set(try FieldPath(validating: "f\(index)"), .increment(1)) }
            _ = try DocumentWrite.update("a/1", updates)
        }

        let storage = MockStorageClient(MockBackend())
        var batch = WriteBatch()
        try batch.merge("a/1", increments(0..<400))
        try batch.merge("a/2", increments(0..<400))
        try await storage.commit(batch)
        try batch.merge("a/1", increments(400..<501))
        let tooMuch = batch
        let error = await #expect(throws: StorageError.self) { try await storage.commit(tooMuch) }
        #expect(error?.code == .invalidArgument)
        #expect(try await storage.document("a/1")["f0"] == 1)
    }
}
