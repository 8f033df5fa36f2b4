import SwitchyardBytes

/// Related rows within each row, as requested: `owner:users!todos_owner_fkey(name)`.
struct RESTEmbedding: Hashable, Sendable {
    let name: String
    let alias: String?
    /// What tells several relationships apart: a foreign key, one of its columns, or a joining table.
    let hint: String?
    /// Whether rows without related ones are left out.
    let isInner: Bool
    /// Whether the columns become those of the row: `...users(name)`.
    let isSpread: Bool
    var selection: RESTSelection
    var filters: [RESTFilter] = []
    var order: [RESTOrder] = []
    var limit: Int?
    var offset = 0

    /// Its name in results and in conditions.
    var label: String { alias ?? name }

    /// Whether the rows serve for conditions only: `users()`.
    var isEmpty: Bool { selection.items.isEmpty && selection.embeddings.allSatisfy(\.isEmpty) }

    /// The parts of a parameter's name before the last one, which name embedded rows: `users.messages.at` concerns
    /// `users.messages`.
    static func path(of name: String) throws(RESTFailure) -> (path: [String], rest: String) {
        var scanner = RESTScanner(name)
        var path: [String] = []
        while true {
            var start = scanner
            let part = try scanner.name { $0 == "." }
            guard scanner.skip(".") else {
                let rest = start.takeRest()
                if path.last == "not", rest == "and" || rest == "or" { return (path.dropLast(), "not." + rest) }
                return (path, rest)
            }
            path.append(part)
        }
    }
}

extension RESTSelection {
    /// Changes the embedding at a path.
    mutating func change(
        _ path: some Collection<String>, _ body: (inout RESTEmbedding) -> Void
    ) throws(RESTFailure) {
        guard let name = path.first else { return }
        // As with the vendor, the relation's own name works even if there is an alias.
        guard
            let index = embeddings.firstIndex(where: { $0.label == name })
                ?? embeddings.firstIndex(where: { $0.name == name })
        else { throw .notEmbedded(name) }
        guard path.count > 1 else { return body(&embeddings[index]) }
        try embeddings[index].selection.change(path.dropFirst(), body)
    }
}

extension RESTFailure {
    static func notEmbedded(_ name: String) -> RESTFailure {
        var failure = RESTFailure(400, "PGRST108", "'\(name)' is not an embedded resource in this request")
        failure.hint = .string("Verify that '\(name)' is included in the 'select' query parameter.")
        return failure
    }
}
