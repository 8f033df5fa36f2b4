import Switchyard
import SwitchyardTestSupport
import Testing

@Suite struct QueryViewTests {
    /// A query's window by sorting everything; the evaluator's own meaning is compared with a model elsewhere.
    static func window(of query: Query, _ documents: some Sequence<DocumentSnapshot>) -> [DocumentSnapshot] {
        let evaluator = QueryEvaluator(query)
        let all = documents.filter { evaluator.matches($0) }.sorted { evaluator.ordering($0, $1) == .before }
        let rest = all.dropFirst(query.offset)
        return switch query.limit {
        case nil: Array(rest)
        case .first(let count): Array(rest.prefix(count))
        case .last(let count): Array(rest.suffix(count))
        }
    }

    /// Checks every index on the way, as a list on a screen would need it.
    static func apply(_ changes: [DocumentChange], to list: inout [DocumentSnapshot]) throws {
        for change in changes {
            if let index = change.oldIndex {
                try #require(list.indices.contains(index))
                #expect(list[index].path == change.document.path)
                if change.kind == .removed { #expect(list[index] == change.document) }
                list.remove(at: index)
            }
            if let index = change.newIndex {
                try #require(index <= list.count)
                list.insert(change.document, at: index)
            }
            switch change.kind {
            case .added: #expect(change.oldIndex == nil && change.newIndex != nil)
            case .removed: #expect(change.oldIndex != nil && change.newIndex == nil)
            case .modified, .metadata: #expect(change.oldIndex != nil && change.newIndex != nil)
            }
        }
    }

    @Test(arguments: 1...30)
    func `Changes applied in order give what the query gives from scratch`(seed: Int) async throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let query = random.query()
        var world: [StoragePath: DocumentSnapshot] = [:]
        for _ in 0..<60 {
            let document = random.snapshot()
            world[document.path] = document
        }
        var view = QueryView(query, reserve: seed.isMultiple(of: 2) ? nil : random.int(1..<6))
        var list: [DocumentSnapshot] = []
        view.reset(to: world.values)
        try Self.apply(view.takeChanges(), to: &list)
        #expect(list == Self.window(of: query, world.values))
        for _ in 0..<30 {
            await Task.yield()
            for _ in 0..<random.pick([1, 1, 1, 2, 5, 20]) {
                let document = random.snapshot()
                world[document.path] = document
                view.update(document)
            }
            if view.needsRefill { view.reset(to: world.values) }
            let changes = view.takeChanges()
            try Self.apply(changes, to: &list)
            #expect(list == Self.window(of: query, world.values))
            #expect(Array(view.documents) == list)
            #expect(Set(changes.map(\.document.path)).count == changes.count, "each document changes once")
        }
        #expect(QueryEvaluator(query).results(among: world.values) == list)
    }

    @Test(arguments: [(0, nil), (3, nil), (0, 100), (5, 100), (0, -100), (0, 1)] as [(Int, Int?)])
    func `A document that moves pushes others over the edges of a large window`(offset: Int, limit: Int?) throws {
        var random = SeededGenerator(seed: UInt64(offset + 10))
        var query = Query(in: "c").where("n", .lessThan, 400).ordered(by: "n").skipping(offset)
        if let limit { query = limit < 0 ? query.limited(toLast: -limit) : query.limited(to: limit) }
        var view = QueryView(query)
        var world: [StoragePath: DocumentSnapshot] = [:]
        func document(_ index: Int) -> DocumentSnapshot {
            .existing(StoragePath(unchecked: "c/\(index)"), ["n": .integer(Int64(random.int(0..<500)))])
        }
        for index in 0..<250 { world[StoragePath(unchecked: "c/\(index)")] = document(index) }
        view.reset(to: world.values)
        var list: [DocumentSnapshot] = []
        try Self.apply(view.takeChanges(), to: &list)
        for _ in 0..<100 {
            let moved = random.chance(20) ? .missing("c/7") : document(random.int(0..<260))
            world[moved.path] = moved
            view.update(moved)
            let changes = view.takeChanges()
            #expect(changes.count <= 3)
            try Self.apply(changes, to: &list)
            #expect(list == Self.window(of: query, world.values))
        }
    }

    @Test(arguments: 1...15)
    func `Two results compared as wholes give changes that lead from one to the other, projected or not`(seed: Int)
        async throws
    {
        var random = SeededGenerator(seed: UInt64(seed))
        var query = random.query()
        if seed.isMultiple(of: 3) { query = query.selecting("nothing") }
        var world: [StoragePath: DocumentSnapshot] = [:]
        var last = QuerySnapshot(query: query, documents: [])
        var list: [DocumentSnapshot] = []
        for _ in 0..<20 {
            await Task.yield()
            for _ in 0..<random.int(0..<20) {
                let document = random.snapshot()
                world[document.path] = document
            }
            let documents = Self.window(of: query, world.values).map { $0.projected(for: query) }
            last = QuerySnapshot(query: query, documents: documents, following: last)
            try Self.apply(last.changes, to: &list)
            #expect(list == documents)
        }
    }

    @Test func `A view with a reserve holds little and asks for more only when that is used up`() throws {
        let query = Query(in: "things").ordered(by: "n").limited(to: 10)
        let documents = (0..<1000).map {
            DocumentSnapshot.existing(CollectionPath("things").document("d\($0)"), ["n": .integer(Int64($0))])
        }
        var view = QueryView(query, reserve: 5)
        view.reset(to: documents.shuffled())
        #expect(view.matchingCount == 15)
        #expect(Array(view.documents) == Array(documents[0..<10]))
        for index in 0..<5 {
            view.update(.missing(documents[index].path))
            #expect(!view.needsRefill)
        }
        #expect(Array(view.documents) == Array(documents[5..<15]))
        view.update(.missing(documents[5].path))
        #expect(view.needsRefill)
        view.reset(to: documents[6...])
        #expect(!view.needsRefill)
        for number in 0..<500 {
            view.update(
                .existing(CollectionPath("things").document("new\(number)"), ["n": .integer(Int64(-number))]))
        }
        #expect(view.matchingCount <= 20)
        #expect(view.documents.first?["n"] == -499)
    }

    @Test func `A document that nothing happened to is reported when others push it over the edge`() throws {
        let query = Query(in: "c").ordered(by: "n").limited(toLast: 2)
        var view = QueryView(query)
        let documents = [1, 2, 3].map {
            DocumentSnapshot.existing(StoragePath(unchecked: "c/\($0)"), ["n": .integer($0)])
        }
        view.reset(to: documents)
        _ = view.takeChanges()
        view.update(.missing("c/3"))
        let changes = view.takeChanges()
        #expect(changes.map(\.kind) == [.removed, .added])
        #expect(changes.map(\.document.id) == ["3", "1"])
        #expect(changes.map(\.oldIndex) == [1, nil] && changes.map(\.newIndex) == [nil, 0])
    }

    @Test func `Removals come first, and metadata alone is distinguished from contents`() {
        var view = QueryView(Query(in: "c"))
        view.reset(to: [.existing("c/a", ["n": 1]), .existing("c/b", ["n": 1]), .existing("c/c", [:])])
        _ = view.takeChanges()
        view.update(.existing("c/a", ["n": 1], metadata: SnapshotMetadata(isFromCache: true)))
        view.update(.existing("c/b", ["n": 2]))
        view.update(.missing("c/c"))
        let changes = view.takeChanges()
        #expect(changes.map(\.kind) == [.removed, .metadata, .modified])
        #expect(view.takeChanges().isEmpty)
    }
}
