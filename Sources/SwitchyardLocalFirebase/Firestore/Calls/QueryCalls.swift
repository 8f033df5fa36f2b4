import Switchyard
import SwitchyardBytes
import SwitchyardFirestoreFormat

/// Queries and aggregations.
extension FirestoreCall {
    func runQuery() throws(FirestoreFailure) -> JSON {
        try allow(["structuredQuery", "transaction", "newTransaction", "readTime", "explainOptions"])
        let search = try search(body["structuredQuery"] ?? .null)
        let view = try view()
        let results = search.results(in: view.documents)
        database.note(view) { $0.note(search, results) }
        let readTime = JSON.string(view.readTime.firestoreText)
        var elements: [JSONObject] = []
        if let begun = view.begun { elements.append(["transaction": .string(begun)]) }
        for document in results {
            elements.append(["document": search.shown(document).firestore(in: name), "readTime": readTime])
        }
        if results.isEmpty { elements.append(["readTime": readTime]) }
        elements[elements.count - 1]["done"] = true
        return .array(elements.map { .object($0) })
    }

    func runAggregationQuery() throws(FirestoreFailure) -> JSON {
        try allow(["structuredAggregationQuery", "transaction", "newTransaction", "readTime", "explainOptions"])
        let message = body["structuredAggregationQuery"]
        let search = try search(message?["structuredQuery"] ?? .null)
        let aggregations = try aggregations(message?["aggregations"]?.array ?? [])
        let view = try view()
        var results = search.results(in: view.documents)
        let all = results
        database.note(view) { $0.note(search, all) }
        // Aggregations cover only documents that have all fields used in them.
        let fields = aggregations.compactMap(\.field)
        if !fields.isEmpty { results = results.filter { document in fields.allSatisfy { document[$0] != nil } } }
        let values = AggregateEvaluator.values(of: aggregations.map(\.aggregation), over: results)
        var answer = JSONObject()
        for (aggregation, value) in zip(aggregations, values) {
            var value = value
            if let most = aggregation.upTo, case .integer(let count) = value { value = .integer(min(count, most)) }
            answer[aggregation.alias] = value.firestore(in: name)
        }
        var element: JSONObject = [
            "result": ["aggregateFields": .object(answer)], "readTime": .string(view.readTime.firestoreText),
            "done": true,
        ]
        element["transaction"] = view.begun.map { .string($0) }
        return [.object(element)]
    }

    /// The query of the body, if the caller may run it.
    private func search(_ json: JSON) throws(FirestoreFailure) -> LocalSearch {
        let search = try LocalSearch(json, parent: name.resourceName(ofParent: try parent()), in: name)
        guard rules.allow(search.forRules, of: caller, in: database.current().documents) else {
            throw .permissionDenied
        }
        return search
    }

    private struct NamedAggregation {
        let alias: String
        let aggregation: Aggregation
        var upTo: Int64?

        var field: FieldPath? {
            switch aggregation {
            case .count: nil
            case .sum(let field), .average(let field): field
            }
        }
    }

    private func aggregations(_ elements: [JSON]) throws(FirestoreFailure) -> [NamedAggregation] {
        guard (1...5).contains(elements.count) else { throw .invalid("Give one to five aggregations.") }
        var aggregations: [NamedAggregation] = []
        for (index, element) in elements.enumerated() {
            let alias = element["alias"]?.string ?? "field_\(index + 1)"
            guard !aggregations.contains(where: { $0.alias == alias }) else {
                throw .invalid("The alias “\(alias)” is given twice.")
            }
            aggregations.append(
                try FirestoreFailure.reading { () throws(FirestoreFormatError) in
                    if let field = element["sum"]?["field"] {
                        return NamedAggregation(
                            alias: alias, aggregation: .sum(try FieldPath(firestoreReference: field)))
                    }
                    if let field = element["avg"]?["field"] {
                        return NamedAggregation(
                            alias: alias, aggregation: .average(try FieldPath(firestoreReference: field)))
                    }
                    guard let count = element["count"] else {
                        throw FirestoreFormatError("an aggregation of an unknown kind")
                    }
                    let most = count["upTo"].flatMap { $0.int64 ?? $0.string.flatMap { Int64($0) } }
                    return NamedAggregation(alias: alias, aggregation: .count, upTo: most)
                })
        }
        return aggregations
    }
}
