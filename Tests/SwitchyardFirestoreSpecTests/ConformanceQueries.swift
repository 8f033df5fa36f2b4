import Switchyard
import SwitchyardBytes

@testable import SwitchyardFirestoreFormat

/// The cases of queries: a list of clauses in, a structured query out.
enum ConformanceQueries {
    static func outcome(of body: JSON) throws -> ConformanceOutcome {
        let isError = body["isError"]?.bool == true
        do {
            let query = try self.query(body)
            if isError { return .failed("accepted") }
            let sent = FirestoreQuery(query, in: ConformanceCase.database).structuredQuery
            return ConformanceCase.compare(
                ConformanceNormal.query(sent), ConformanceNormal.query(body["query"] ?? .null))
        } catch is ConformanceData.Inexpressible {
            return isError ? .passed : .failed("cannot be expressed")
        } catch let error as StorageError {
            return isError ? .passed : .failed("refused: \(error.message)")
        }
    }

    private static func query(_ body: JSON) throws -> Query {
        let prefix = ConformanceCase.database.root + "/"
        guard let name = body["collPath"]?.string, name.hasPrefix(prefix) else {
            throw FirestoreFormatError("a case without a collection")
        }
        var query = Query(in: try CollectionPath(validating: String(name.dropFirst(prefix.count))))
        for clause in body["clauses"]?.array ?? [] {
            guard let (kind, value) = clause.object?.first.map({ ($0.key, $0.value) }) else { continue }
            query = try adding(kind, value, to: query)
        }
        return try query.checked()
    }

    private static func adding(_ kind: String, _ value: JSON, to query: Query) throws -> Query {
        switch kind {
        case "select":
            return try query.selecting((value["fields"]?.array ?? []).map { try ConformanceData.fieldPath($0) })
        case "where":
            guard let operation = value["op"]?.string.flatMap(Filter.Operator.init(rawValue:)) else {
                throw ConformanceData.Inexpressible()
            }
            return query.where(
                try ConformanceData.fieldPath(value["path"]), operation,
                try ConformanceData.value(try ConformanceData.json(value["jsonValue"])))
        case "orderBy":
            return query.ordered(
                by: try ConformanceData.fieldPath(value["path"]),
                value["direction"] == "desc" ? .descending : .ascending)
        case "offset": return query.skipping(value.int ?? -1)
        case "limit": return query.limited(to: value.int ?? -1)
        case "startAt":
            return try placed(value, query, query.starting(at:)) { query.withStart($0, isInclusive: true) }
        case "startAfter":
            return try placed(value, query, query.starting(after:)) { query.withStart($0, isInclusive: false) }
        case "endAt": return try placed(value, query, query.ending(at:)) { query.withEnd($0, isInclusive: true) }
        case "endBefore":
            return try placed(value, query, query.ending(before:)) { query.withEnd($0, isInclusive: false) }
        default: throw FirestoreFormatError("an unknown clause")
        }
    }

    private static func placed(
        _ cursor: JSON, _ query: Query, _ atDocument: (DocumentSnapshot) throws -> Query,
        _ atValues: ([DocumentValue]) throws -> Query
    ) throws -> Query {
        if let snapshot = cursor["docSnapshot"] {
            guard let name = snapshot["path"]?.string,
                case .map(let data) = try ConformanceData.value(try ConformanceData.json(snapshot["jsonData"]))
            else { throw FirestoreFormatError("a cursor without a document") }
            return try atDocument(.existing(try ConformanceCase.database.path(ofName: name), data))
        }
        return try atValues(
            (cursor["jsonValues"]?.array ?? []).map { try ConformanceData.value(try ConformanceData.json($0)) })
    }
}
