import Switchyard
import SwitchyardBytes
import SwitchyardFirestoreFormat

/// Calls that list the documents of a collection in pages, and the names of collections.
extension FirestoreCall {
    private static let defaultPage = 30
    private static let largestPage = 150

    func list() throws(FirestoreFailure) -> JSON {
        let collection = try collection()
        let showsMissing = item("showMissing") == "true"
        if showsMissing { try checkIsOwner() }
        var query = Query(in: collection)
        for order in try orders() {
            let base = query
            query = try FirestoreFailure.checking { () throws(StorageError) in
                try base.ordered(by: order.field, order.direction).checked()
            }
        }
        guard rules.allow(query, of: caller, in: database.current().documents) else { throw .permissionDenied }
        let wanted = try count("pageSize") ?? 0
        let size = wanted == 0 ? Self.defaultPage : min(wanted, Self.largestPage)
        let documents = database.current().documents
        var all = documents.results(of: query)
        if showsMissing, query.orders.isEmpty {
            all += documents.missingParents(in: collection).map { .missing($0) }
            all.sort { $0.path < $1.path }
        }
        if let token = item("pageToken"), !token.isEmpty {
            guard let bytes = Base64.decode(token, alphabet: .url),
                let last = all.firstIndex(where: { $0.path.rawValue.utf8.elementsEqual(bytes) })
            else { throw .invalid("The page token is of no use here.") }
            all.removeFirst(last + 1)
        }
        let page = all.prefix(size)
        let mask = try fields("mask.fieldPaths")
        var answer = JSONObject()
        if !page.isEmpty { answer["documents"] = .array(page.map { $0.masked(mask).firestore(in: name) }) }
        if all.count > size, let last = page.last {
            answer["nextPageToken"] = .string(Base64.encode(Array(last.path.rawValue.utf8), alphabet: .url))
        }
        return .object(answer)
    }

    /// Parses an `orderBy` like `n desc, m`.
    private func orders() throws(FirestoreFailure) -> [Query.Order] {
        var orders: [Query.Order] = []
        for part in item("orderBy")?.split(separator: ",") ?? [] {
            let words = part.split(separator: " ").map(String.init)
            guard let text = words.first, words.count <= 2 else { throw .invalid("“orderBy” cannot be read.") }
            let direction: Query.Direction
            switch words.dropFirst().first?.lowercased() {
            case nil, "asc": direction = .ascending
            case "desc": direction = .descending
            default: throw .invalid("“orderBy” cannot be read.")
            }
            let field = try FirestoreFailure.reading { () throws(FirestoreFormatError) in
                try FieldPath(firestore: text)
            }
            orders.append(Query.Order(field, direction))
        }
        return orders
    }

    /// Divides a collection group query. The service does so by the amount of data; here all parts have the same number of
    /// documents.
    func partitionQuery() throws(FirestoreFailure) -> JSON {
        try allow(["structuredQuery", "partitionCount", "pageSize", "pageToken", "readTime"])
        try checkIsOwner()
        guard place.isEmpty else { throw .invalid("Only a whole database can be partitioned.") }
        let name = name
        let json = body["structuredQuery"] ?? .null
        let query = try FirestoreFailure.reading { () throws(FirestoreFormatError) in
            try Query(firestore: json, parent: name.root, in: name)
        }
        guard case .group = query.source, query.isWholeCollection, json["orderBy"]?.array?.count == 1,
            query.effectiveOrders.allSatisfy({ $0.direction == .ascending })
        else {
            throw .invalid("A query to be partitioned has all descendants, the order by __name__ and nothing else.")
        }
        guard let count = integer("partitionCount"), count > 0 else {
            throw .invalid("partitionCount must be positive.")
        }
        let all = database.current().documents.results(of: query)
        let parts = min(count.addingSaturated(1), all.count)
        let places = parts > 1 ? (1..<parts).map { all[$0 * all.count / parts].path } : []
        let start = body["pageToken"]?.string.flatMap { Int($0) } ?? 0
        guard (0...places.count).contains(start) else { throw .invalid("pageToken cannot be read.") }
        let page = places[start...].prefix(max(integer("pageSize") ?? 300, 1))
        var answer = JSONObject()
        if !page.isEmpty {
            answer["partitions"] = .array(
                page.map { ["values": [["referenceValue": .string(name.resourceName(of: $0))]], "before": true] })
        }
        if page.endIndex < places.count { answer["nextPageToken"] = .string("\(page.endIndex)") }
        return .object(answer)
    }

    /// A number in the body, which may be written as text.
    private func integer(_ name: String) -> Int? { body[name].flatMap { $0.int ?? $0.string.flatMap { Int($0) } } }

    func listCollectionIDs() throws(FirestoreFailure) -> JSON {
        try allow(["pageSize", "pageToken", "readTime"])
        try checkIsOwner()
        let after = body["pageToken"]?.string ?? ""
        let all = try database.current().documents.collectionIDs(below: parent()).filter {
            after.isEmpty || after.utf8.lexicographicallyPrecedes($0.utf8)
        }
        let size = max(body["pageSize"]?.int ?? 100, 1)
        var answer = JSONObject()
        if !all.isEmpty { answer["collectionIds"] = .array(all.prefix(size).map { .string($0) }) }
        if all.count > size { answer["nextPageToken"] = .string(all[size - 1]) }
        return .object(answer)
    }
}
