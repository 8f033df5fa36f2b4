import SwitchyardBytes

/// An embedding with the relationship that it means, and its names in a statement.
struct RESTJoin: Sendable {
    let embedding: RESTEmbedding
    let relationship: RESTRelationship
    /// The alias of the related rows.
    let alias: String
    /// The alias of what the join gives to each row.
    let result: String
    let joins: [RESTJoin]
}

extension RESTRelations {
    /// Finds the relationships that a request means.
    ///
    /// - Parameters:
    ///   - origin: The name of the relation, or of a function that returns rows of no relation.
    ///   - schema: The schema of the request.
    ///   - used: The aliases of the rows around.
    func joins(
        _ embeddings: [RESTEmbedding], of origin: String, in schema: String, depth: Int = 1, within used: [String]
    ) throws(RESTFailure) -> [RESTJoin] {
        var joins: [RESTJoin] = []
        for (index, embedding) in embeddings.enumerated() {
            let relationship = try relationship(embedding, of: origin, in: schema)
            let target = relationship.target
            // The vendor's names, which messages of the database show, unless it would cut them off.
            var alias = "\(target.name)_\(depth)"
            var result = "\(origin)_\(embedding.label)_\(depth)"
            if alias.utf8.count > 50 { alias = "rows_\(depth)_\(index)" }
            if result.utf8.count > 63 { result = "result_\(depth)_\(index)" }
            while used.contains(alias) { alias += "_" }
            joins.append(
                RESTJoin(
                    embedding: embedding, relationship: relationship, alias: alias, result: result,
                    joins: try self.joins(
                        embedding.selection.embeddings, of: target.name, in: schema, depth: depth + 1,
                        within: used + [alias])))
        }
        return joins
    }

    private func relationship(
        _ embedding: RESTEmbedding, of origin: String, in schema: String
    ) throws(RESTFailure) -> RESTRelationship {
        let relation = relation(schema, origin)
        if let relation, let computed = computed(embedding.name, of: relation), computed.target.schema == schema {
            return computed
        }
        let all = relation.map { relationships(of: $0, in: schema) } ?? []
        let found = all.filter { $0.matches(embedding.name, hint: embedding.hint) }
        guard let first = found.first else {
            throw .unrelated(
                origin, embedding, schema, targets: all.map(\.target.name), parents: related(in: schema))
        }
        guard found.count == 1 else { throw .ambiguous(origin, embedding, found) }
        return first
    }
}

extension RESTFailure {
    fileprivate static func unrelated(
        _ origin: String, _ embedding: RESTEmbedding, _ schema: String, targets: [String], parents: [String]
    ) -> RESTFailure {
        var failure = RESTFailure(
            400, "PGRST200",
            "Could not find a relationship between '\(origin)' and '\(embedding.name)' in the schema cache")
        let hint = embedding.hint.map { " using the hint '\($0)'" } ?? ""
        failure.details = .string(
            "Searched for a foreign key relationship between '\(origin)' and '\(embedding.name)'\(hint) in the schema "
                + "'\(schema)', but no matches were found.")
        let (wrong, known) = targets.isEmpty ? (origin, parents) : (embedding.name, targets)
        if let near = mostAlike(wrong, among: known) {
            failure.hint = .string("Perhaps you meant '\(near)' instead of '\(wrong)'.")
        }
        return failure
    }

    fileprivate static func ambiguous(
        _ origin: String, _ embedding: RESTEmbedding, _ found: [RESTRelationship]
    ) -> RESTFailure {
        var failure = RESTFailure(
            300, "PGRST201",
            "Could not embed because more than one relationship was found for '\(origin)' and '\(embedding.name)'")
        failure.details = .array(found.map(\.description))
        failure.hint = .string(
            "Try changing '\(embedding.name)' to one of the following: "
                + "\(found.map(\.suggestion).joined(separator: ", ")). "
                + "Find the desired relationship in the 'details' key.")
        return failure
    }

    /// As the vendor's service does, suggests rather distant names too, but nothing for a name that is known.
    private static func mostAlike(_ name: String, among known: [String]) -> String? {
        var best: (name: String, likeness: Double)?
        guard !known.contains(name) else { return nil }
        for candidate in Set(known).sorted() {
            let length = max(candidate.count, name.count)
            let likeness = 1 - Double(distance(Array(name), Array(candidate))) / Double(max(length, 1))
            if likeness > max(best?.likeness ?? 0, 0.33) { best = (candidate, likeness) }
        }
        return best?.name
    }

    /// How many letters have to be changed, added or removed.
    private static func distance(_ one: [Character], _ other: [Character]) -> Int {
        var row = Array(0...other.count)
        for (index, letter) in one.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for (column, otherLetter) in other.enumerated() {
                let replaced = diagonal + (letter == otherLetter ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
            }
        }
        return row[other.count]
    }
}
