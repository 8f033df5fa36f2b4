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

    /// The name that was probably meant. As with the vendor, nothing is suggested for a name that is known, unless
    /// `includesSame` is set.
    static func mostAlike(
        _ name: String, among known: [String], atLeast least: Double = 0.33, includesSame: Bool = false
    ) -> String? {
        var best: (name: String, likeness: Double)?
        guard includesSame || !known.contains(name) else { return nil }
        let letters = Array(name.lowercased())
        for candidate in Set(known).sorted() {
            let other = Array(candidate.lowercased())
            let likeness = 1 - Double(distance(letters, other)) / Double(max(letters.count, other.count, 1))
            if likeness >= least, likeness > best?.likeness ?? 0 { best = (candidate, likeness) }
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

/// Related rows in a statement: each embedding is a lateral join, whose result is one value per row.
extension RESTStatement {
    /// Builds the joins, and has later parts of the statement refer to them.
    ///
    /// - Parameter cap: The greatest number of rows of an embedding; `nil` if embeddings have no range at all, as after
    ///   writes.
    mutating func join(_ joins: [RESTJoin], cap: Int?) throws(RESTFailure) -> String {
        self.joins = joins
        var text = ""
        for join in joins {
            let result = Self.quoted(join.result)
            let rows = try related(join, cap: cap)
            let isInner = join.embedding.isInner
            text += isInner ? " join lateral (" : " left join lateral ("
            if join.relationship.isToOne {
                text += "\(rows)) as \(result) on true"
            } else {
                text += "select json_agg(\(result))::jsonb as \(result)"
                if join.embedding.isSpread {
                    for name in Self.spreadNames(of: join) {
                        let column = Self.quoted(name)
                        text += ", coalesce(json_agg(\(result).\(column)), '[]')::jsonb as \(column)"
                    }
                }
                text += " from (\(rows)) as \(result)) as \(result) on \(isInner ? "\(result) is not null" : "true")"
            }
        }
        return text
    }

    /// The rows of an embedding that belong to a row of this statement.
    private mutating func related(_ join: RESTJoin, cap: Int?) throws(RESTFailure) -> String {
        let (relationship, embedding) = (join.relationship, join.embedding)
        var inner = RESTStatement(
            alias: join.alias, columns: relationship.target.readable, parameters: parameters,
            label: relationship.junction == nil ? join.alias : relationship.target.name,
            representations: relationship.target.representations, of: relationship.target.columnNames)
        let nested = try inner.join(join.joins, cap: cap)
        var conditions = [try inner.conditions(embedding.filters)]
        let (origin, rows) = (Self.quoted(alias), Self.quoted(join.alias))
        func equal(_ columns: [RESTRelationship.Columns], _ left: String, _ right: String) -> [String] {
            columns.map { "\(left).\(Self.quoted($0.origin)) = \(right).\(Self.quoted($0.target))" }
        }
        var source = "\(relationship.target.quoted) as \(rows)"
        if let function = relationship.function {
            source = "\(function)(\(origin)::\(relationship.origin.quoted)) as \(rows)"
        } else if let junction = relationship.junction {
            let middle = Self.quoted(join.alias + "_junction")
            let pairs = equal(junction.otherColumns, middle, rows)
            source += " join \(junction.relation.quoted) as \(middle) on \(pairs.joined(separator: " and "))"
            conditions += equal(junction.columns, origin, middle)
        } else {
            conditions += equal(relationship.columns, origin, rows)
        }
        let selection = embedding.selection
        let isNothing = selection.items.isEmpty && selection.embeddings.isEmpty
        // Conditions and orders may still refer to columns that are not returned.
        let items = isNothing ? "\(rows).*" : try inner.items(selection)
        let order = try inner.order(embedding.order)
        let range = cap.map { " limit \(min(embedding.limit ?? .max, $0)) offset \(embedding.offset)" } ?? ""
        adopt(inner)
        return
            "select \(items) from \(source)\(nested) where \(conditions.joined(separator: " and "))\(order)\(range)"
    }

    /// What the joins add to the columns of a row.
    func joinedItems() -> [String] {
        joins.flatMap { join -> [String] in
            let result = Self.quoted(join.result)
            guard !join.embedding.isSpread else {
                if join.relationship.isToOne, join.embedding.selection.items.contains(nil) { return ["\(result).*"] }
                return Self.spreadNames(of: join).map { "\(result).\(Self.quoted($0))" }
            }
            guard !join.embedding.isEmpty else { return [] }
            let value =
                join.relationship.isToOne
                ? "row_to_json(\(result).*)::jsonb" : "coalesce(\(result).\(result), '[]')"
            return ["\(value) as \(Self.quoted(join.embedding.label))"]
        }
    }

    /// The names that the rows of an embedding bring into the row around.
    private static func spreadNames(of join: RESTJoin) -> [String] {
        var names: [String] = []
        for item in join.embedding.selection.items {
            if let item {
                names.append(item.alias ?? item.column.label)
            } else {
                names += join.relationship.target.columnNames
            }
        }
        for inner in join.joins {
            if inner.embedding.isSpread {
                names += spreadNames(of: inner)
            } else if !inner.embedding.isEmpty {
                names.append(inner.embedding.label)
            }
        }
        return names
    }

    /// The value of a key such as `users(name)`, by which rows are sorted.
    mutating func joinedColumn(_ column: RESTColumn, of name: String) throws(RESTFailure) -> String {
        guard let join = joins.first(where: { $0.embedding.label == name }) else { throw .notEmbedded(name) }
        guard join.relationship.isToOne else {
            var failure = RESTFailure(400, "PGRST118", "A related order on '\(name)' is not possible")
            failure.details = .string(
                "'\(join.relationship.origin.name)' and '\(name)' do not form a many-to-one or one-to-one relationship")
            throw failure
        }
        var result = RESTStatement(alias: join.result, parameters: parameters)
        let value = try result.column(column)
        adopt(result)
        return value
    }
}
