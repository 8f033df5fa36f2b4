import Foundation
import Switchyard
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSync

/// Other paths in place of those in values, writes and queries.
@Suite struct PathMappingTests {
    private let name = NewName(old: "tasks/-1", new: "tasks/41")

    @Test(
        arguments: [
            ("tasks/-1", "tasks/41"), ("tasks/-1/notes/x", "tasks/41/notes/x"), ("tasks/-11", "tasks/-11"),
            ("tasks/-1x/notes/y", "tasks/-1x/notes/y"), ("lists/a/tasks/-1", "lists/a/tasks/-1"),
            ("tasks/4", "tasks/4"),
        ] as [(StoragePath, StoragePath)])
    func `A document and what lies below it move`(_ path: StoragePath, _ moved: StoragePath) {
        #expect(name(path) == moved)
    }

    @Test func `The documents on the way to one are known, outermost first`() {
        #expect(("a/b/c/d/e/f" as StoragePath).lineage == ["a/b", "a/b/c/d", "a/b/c/d/e/f"])
    }

    @Test func `References are replaced wherever a value has them, and those to other databases stay`() {
        let old = DocumentValue.of(name.old)
        let foreign = DocumentValue.reference(DocumentReference(name.old, origin: "elsewhere"))
        let write = DocumentWrite(
            path: "steps/a", operation: .patch(["a": old, "b": [foreign, ["c": old]]], mask: ["a", "b", "gone"]),
            transforms: [
                FieldTransform("d", .arrayUnion([old, "tasks/-1"])), FieldTransform("e", .arrayRemove([old])),
                FieldTransform("f", .increment(1)),
            ], precondition: .exists(true))
        let new = DocumentValue.of(name.new)
        #expect(
            write.mappingPaths { name($0) }
                == DocumentWrite(
                    path: "steps/a",
                    operation: .patch(["a": new, "b": [foreign, ["c": new]]], mask: ["a", "b", "gone"]),
                    transforms: [
                        FieldTransform("d", .arrayUnion([new, "tasks/-1"])), FieldTransform("e", .arrayRemove([new])),
                        FieldTransform("f", .increment(1)),
                    ], precondition: .exists(true)))
    }

    @Test func `A query keeps everything else`() throws {
        let query = Query(in: "tasks/-1/notes")
            .where(.any([.field("a", .equal, name.old), .field("b", .in, [DocumentValue.of(name.old), 1])]))
            .ordered(by: "a", .descending).limited(to: 3).starting(after: .of(name.old))
        let mapped = query.mappingPaths { name($0) }
        let expected = Query(in: "tasks/41/notes")
            .where(.any([.field("a", .equal, name.new), .field("b", .in, [DocumentValue.of(name.new), 1])]))
            .ordered(by: "a", .descending).limited(to: 3).starting(after: .of(name.new))
        #expect(query.mistake == nil && mapped == expected)
        #expect(
            Query(group: "notes", under: "tasks/-1").mappingPaths { name($0) }
                == Query(group: "notes", under: "tasks/41"))
    }

    @Test(arguments: 1...RunSize.full(400, part: 80))
    func `Without another name, nothing changes`(seed: Int) {
        var random = RandomRows(seed: UInt64(seed))
        let (write, query) = (random.write(), random.query())
        #expect(write.mappingPaths { $0 } == write)
        #expect(query.mappingPaths { $0 } == query)
        var paths: Set<StoragePath> = []
        _ = write.mappingPaths { path in
            paths.insert(path)
            return path
        }
        #expect(paths.contains(write.path))
    }
}
