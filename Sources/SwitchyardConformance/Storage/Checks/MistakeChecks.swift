import Switchyard

extension StorageConformance {
    /// An invalid query or path is refused by the first operation that uses it, whichever that is.
    static let mistakeChecks: [StorageCheck] = [
        refused("a limit of nothing is refused") { Query(in: $0).limited(to: 0) },
        refused("a limit below nothing is refused") { Query(in: $0).ordered(by: "number").limited(toLast: -1) },
        refused("a limit to the last needs an order") { Query(in: $0).limited(toLast: 1) },
        refused("an offset below nothing is refused") { Query(in: $0).skipping(-1) },
        refused("a cursor with more values than orders is refused") {
            Query(in: $0).ordered(by: "number").starting(at: 1, "a", 3)
        },
        refused("a cursor at a document that does not exist is refused") {
            Query(in: $0).ordered(by: "number").starting(at: .missing($0.document("missing")))
        },
        refused("an empty list of values is refused") { Query(in: $0).where("number", .in, []) },
        refused("more than thirty alternatives are refused") {
            let values = (0..<6).map { DocumentValue.integer(Int64($0)) }
            return Query(in: $0).where("number", .in, .array(values)).where("text", .in, .array(values))
        },
        refused("comparing with null is refused") { Query(in: $0).where("number", .lessThan, .null) },
        refused("exclusion among alternatives is refused") {
            Query(in: $0).where(.any([.field("number", .notIn, [1]), .field("text", .equal, "x")]))
        },
        refused("a mistake is kept by the steps behind it") {
            Query(in: $0).limited(to: 0).where("number", .equal, 1).limited(to: 1)
        },
        refused("a query of a collection that has no valid path is refused") {
            Query(in: $0.document("a/b").collection("c"))
        },
        refused("a query of a group whose name is no segment is refused") { Query(group: "\($0.id)/x") },
        refused("a condition on a document that has no valid path is refused") {
            Query(in: $0).where("text", .equal, $0.document("").documentValue)
        },
        StorageCheck("a value that is no segment makes a path that every operation refuses") { context in
            let victim = context.document("a")
            try await context.store.set(victim, ["number": 1])
            for value in ["a/b", "x/../a", "", ".", "..", "/", "/a", "a/", "__reserved__", "\u{0}"] {
                let path: StoragePath = "\(context.items)/\(value)"
                try await refused(path, in: context)
            }
            try await context.store.expect(victim, holds: ["number": 1])
            try await context.store.expect(Query(in: context.items), gives: ["a"])
        },
    ].within("mistakes")

    private static func refused(_ path: StoragePath, in context: StorageContext) async throws {
        let client = context.client
        try expect(!path.isValid, "“\(path)” is not valid", found: "it is")
        func refused(_ what: String, _ body: () async throws -> Void) async throws {
            let error = try await context.store.expectFailure(.invalidArgument, in: "\(what) of “\(path)”") {
                try await body()
            }
            try expect(
                error.message.contains(path.description), "the error shows the path", found: error.message)
        }
        try await refused("a read") { _ = try await client.document(path) }
        try await refused("a read among others") {
            _ = try await client.documents([context.document("a"), path], from: .server)
        }
        try await refused("a set") { try await client.setDocument(path, ["number": 2]).acknowledged() }
        try await refused("a merge") { try await client.mergeDocument(path, ["number": 2]).acknowledged() }
        try await refused("an update") { try await client.updateDocument(path, ["number": 2]).acknowledged() }
        try await refused("a deletion") { try await client.deleteDocument(path).acknowledged() }
        if context.features.capabilities.liveStreams {
            try await refused("a stream") {
                if let failure = try await context.watch(path).end() { throw failure }
            }
        }
        if context.features.capabilities.transactions {
            try await refused("a transaction's read") {
                try await client.transaction { _ = try await $0.document(path) }
            }
            try await refused("a transaction's write") { try await client.transaction { try await $0.delete(path) } }
        }
        if context.features.capabilities.listCollections {
            try await refused("a list of collections") { _ = try await client.collections(under: path) }
        }
        if context.features.capabilities.recursiveDelete {
            try await refused("a recursive deletion") { _ = try await client.deleteRecursively(path) }
        }
    }

    private static func refused(
        _ name: String, _ query: @escaping @Sendable (_ items: CollectionPath) -> Query
    ) -> StorageCheck {
        StorageCheck(name) { context in
            try await context.store.set(context.document("a"), ["number": 1, "text": "x"])
            let query = query(context.items)
            try expect(query.mistake != nil, "the query has a mistake", found: "none")
            let error = try await context.store.expectFailure(.invalidArgument, in: "reading it") {
                _ = try await context.client.documents(query)
            }
            try expect(!error.isRetryable, "it is not worth a retry", found: "isRetryable")
            try await context.store.expectFailure(.invalidArgument, in: "reading it from the server") {
                _ = try await context.client.documents(query, from: .server)
            }
            try await context.store.expectFailure(.invalidArgument, in: "counting it") {
                _ = try await context.client.count(query)
            }
            try await context.store.expectFailure(.invalidArgument, in: "its first page") {
                for try await _ in context.client.pages(of: query, size: 2) {}
            }
            guard context.features.capabilities.liveStreams else { return }
            try await context.store.expectFailure(.invalidArgument, in: "its stream") {
                if let failure = try await context.watch(query).end() { throw failure }
            }
        }
    }
}
