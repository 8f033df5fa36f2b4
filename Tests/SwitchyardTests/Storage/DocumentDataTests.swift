import Testing

@testable import Switchyard

@Suite struct DocumentDataTests {
    @Test func `A missing field is absent, not null`() throws {
        let data: DocumentData = ["null": .null, "map": ["null": .null]]
        #expect(data["missing"] == .none)
        #expect(data["null"] == .some(.null))
        #expect(data[FieldPath("missing")] == .none)
        #expect(data[FieldPath("map.missing")] == .none)
        #expect(data[FieldPath("map.null")] == .some(.null))
        #expect(data[FieldPath("missing.deeper")] == .none)
    }

    @Test func `Setting nil removes a field`() {
        var data: DocumentData = ["a": 1, "b": 2]
        data["a"] = .none
        data["c"] = .none
        #expect(data.names == ["b"])
    }
}

@Suite struct ContradictionTests {
    @Test func `A write cannot require what would always make it fail`() throws {
        #expect(throws: StorageError.self) { try DocumentWrite.update("c/x", ["a": 1]).requiring(.exists(false)) }
        #expect(throws: StorageError.self) { try DocumentWrite.create("c/x", ["a": 1]).requiring(.exists(true)) }
        let version = Timestamp(microseconds: 42)
        #expect(
            try DocumentWrite.update("c/x", ["a": 1]).requiring(.updateTime(version)).precondition
                == .updateTime(version))
        #expect(try DocumentWrite.delete("c/x").requiring(.exists(true)).precondition == .exists(true))
    }

    @Test func `A cursor's document must be of the query's collection`() throws {
        let query = Query(in: "c").ordered(by: "a")
        #expect(throws: StorageError.self) { try query.starting(at: .existing("other/x", ["a": 1])).checked() }
        #expect(query.starting(at: .existing("c/x", ["a": 1])).start?.values.count == 2)
        let group = Query(group: "c")
        #expect(group.ending(before: .existing("a/b/c/x", [:])).end?.values.count == 1)
        #expect(throws: StorageError.self) { try group.ending(before: .existing("a/b/d/x", [:])).checked() }
    }
}
