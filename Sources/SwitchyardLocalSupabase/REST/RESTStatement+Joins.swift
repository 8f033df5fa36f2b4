import SwitchyardBytes

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
            label: relationship.junction == nil ? join.alias : relationship.target.name)
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
                let columns = join.relationship.target.columns
                names += columns.keys.sorted().compactMap { columns[$0] }
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
