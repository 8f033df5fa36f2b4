import Switchyard
import SwitchyardBytes
import SwitchyardFirestoreFormat

/// A query of a call, with the two kinds that the portable API does not have: over all collections at once, and by the distance
/// to a vector.
struct LocalSearch: Sendable, Hashable {
    /// Which collections a query without a collection's name covers.
    private enum Reach: Sendable {
        case children, descendants
    }

    /// For a query over all collections: over a group with a made-up name, below the right parent. The access rules judge groups
    /// by their parent alone.
    private let query: Query
    private let reach: Reach?
    private let nearest: NearestSearch?

    init(_ json: JSON, parent: String, in database: FirestoreDatabase) throws(FirestoreFailure) {
        guard var object = json.object else { throw .invalid("A query is an object.") }
        // Only streams take these numbers in a wrapper.
        for part in ["limit", "offset"] where object[part]?.object != nil {
            throw .invalid("“\(part)” is a number, not an object.")
        }
        nearest = try object["findNearest"].map { json throws(FirestoreFailure) in
            try NearestSearch(json, in: database, besides: object)
        }
        object["findNearest"] = nil
        reach = try Self.reach(of: object)
        if reach != nil { object["from"] = [["collectionId": "any", "allDescendants": true]] }
        let complete = JSON.object(object)
        query = try FirestoreFailure.reading { () throws(FirestoreFormatError) in
            try Query(firestore: complete, parent: parent, in: database)
        }
        if reach != nil { try checkIsByNameAlone() }
    }

    /// - Returns: `nil` for a query that names its collection.
    private static func reach(of object: JSONObject) throws(FirestoreFailure) -> Reach? {
        let from = object["from"]?.array ?? []
        guard from.count <= 1 else { throw .invalid("A query reads one collection, or all of them.") }
        guard from.first?["collectionId"]?.string?.isEmpty ?? true else { return nil }
        return from.first?["allDescendants"]?.bool == true ? .descendants : .children
    }

    /// Collections have nothing in common but that their documents have names.
    private func checkIsByNameAlone() throws(FirestoreFailure) {
        let isByName = (query.filter?.conditions ?? []).allSatisfy { condition in
            if case .comparison(.documentID, _, _) = condition { true } else { false }
        }
        guard isByName else {
            throw .invalid("A query over all collections can only filter by __name__; name its collection.")
        }
        guard query.orders.isEmpty, query.effectiveOrders.allSatisfy({ $0.direction == .ascending }) else {
            throw .invalid("A query over all collections can only order by __name__, ascending; name its collection.")
        }
    }

    /// The query by which the access rules judge the search.
    var forRules: Query { query }

    func results(in documents: LocalDocuments) -> [DocumentSnapshot] {
        let found = reach.map { results(in: documents, reaching: $0) } ?? documents.results(of: query)
        return nearest?.results(among: found) ?? found
    }

    private func results(in documents: LocalDocuments, reaching reach: Reach) -> [DocumentSnapshot] {
        guard case .group(_, let parent) = query.source else { return [] }
        var found: [DocumentSnapshot] = []
        for collection in documents.collections(below: parent, isDeep: reach == .descendants) {
            var part = Query(in: collection)
            (part.filter, part.start, part.end) = (query.filter, query.start, query.end)
            found += documents.results(of: part)
        }
        found.sort { $0.path < $1.path }
        return Array(found.dropFirst(query.offset).prefix(query.limit?.count ?? found.count))
    }

    func shown(_ document: DocumentSnapshot) -> DocumentSnapshot { document.projected(for: query) }
}

/// The part of a query that keeps the documents whose vectors are closest to a given one.
struct NearestSearch: Sendable, Hashable {
    private enum Measure: String {
        case euclidean = "EUCLIDEAN"
        case cosine = "COSINE"
        case dotProduct = "DOT_PRODUCT"

        /// By name, or by the number that some clients write.
        init?(_ json: JSON?) {
            let all: [Measure] = [.euclidean, .cosine, .dotProduct]
            if let number = json?.int, (1...all.count).contains(number) {
                self = all[number - 1]
            } else if let known = json?.string.flatMap({ Measure(rawValue: $0) }) {
                self = known
            } else {
                return nil
            }
        }

        func distance(_ left: [Double], _ right: [Double]) -> Double {
            let pairs = zip(left, right)
            let product = pairs.reduce(0) { $0 + $1.0 * $1.1 }
            switch self {
            case .euclidean: return pairs.reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }.squareRoot()
            case .dotProduct: return product
            case .cosine:
                let squares = [left, right].map { $0.reduce(0) { $0 + $1 * $1 } }
                return 1 - product / (squares[0] * squares[1]).squareRoot()
            }
        }

        /// Whether the first distance is closer. A distance that is no number is the farthest.
        func isCloser(_ left: Double, than right: Double) -> Bool {
            if left.isNaN || right.isNaN { return !left.isNaN && right.isNaN }
            return self == .dotProduct ? left > right : left < right
        }
    }

    private static let largestLimit = 1000

    private let field: FieldPath
    private let vector: [Double]
    private let measure: Measure
    private let limit: Int
    private let threshold: Double?
    /// The field that shows the distance.
    private let resultField: String?

    init(_ json: JSON, in database: FirestoreDatabase, besides query: JSONObject) throws(FirestoreFailure) {
        for (part, what) in [("limit", "limit"), ("offset", "offset")] where query[part] != nil {
            throw .invalid("A query \(what) cannot be used with FindNearest.")
        }
        let known: Set = [
            "vectorField", "queryVector", "distanceMeasure", "limit", "distanceThreshold", "distanceResultField",
        ]
        guard let object = json.object, object.members.allSatisfy({ known.contains($0.key) }) else {
            throw .invalid("FindNearest has an unknown part.")
        }
        guard let measure = Measure(object["distanceMeasure"]) else { throw .invalid("Unknown Distance Measure.") }
        guard let limit = object["limit"]?.int, (1...Self.largestLimit).contains(limit)
        else { throw .invalid("FindNearest.limit must be a positive integer of no more than \(Self.largestLimit)") }
        let reference = object["vectorField"] ?? .null
        let value = object["queryVector"] ?? .null
        (field, vector) = try FirestoreFailure.reading { () throws(FirestoreFormatError) in
            let field = try FieldPath(firestoreReference: reference)
            guard case .vector(let vector) = try DocumentValue(firestore: value, in: database), !vector.isEmpty else {
                throw FirestoreFormatError("expected a vector in “queryVector”")
            }
            return (field, vector)
        }
        resultField = object["distanceResultField"]?.string
        guard !FieldPath.isReserved(resultField ?? "") else {
            throw .invalid(
                "The field name “\(resultField ?? "")” begins and ends with two underscores; such names are reserved.")
        }
        threshold = object["distanceThreshold"]?.double
        (self.measure, self.limit) = (measure, limit)
    }

    func results(among documents: [DocumentSnapshot]) -> [DocumentSnapshot] {
        var found: [(document: DocumentSnapshot, distance: Double)] = []
        for document in documents {
            guard case .vector(let other)? = document[field], other.count == vector.count else { continue }
            let distance = measure.distance(vector, other)
            if let threshold, measure.isCloser(threshold, than: distance) { continue }
            found.append((document, distance))
        }
        let sorted = found.enumerated().sorted { left, right in
            if measure.isCloser(left.element.distance, than: right.element.distance) { return true }
            if measure.isCloser(right.element.distance, than: left.element.distance) { return false }
            return left.offset < right.offset
        }
        return sorted.prefix(limit).map { shown($0.element.document, $0.element.distance) }
    }

    private func shown(_ document: DocumentSnapshot, _ distance: Double) -> DocumentSnapshot {
        guard let resultField, var data = document.data else { return document }
        data[FieldPath(unchecked: [resultField])] = .double(distance)
        return DocumentSnapshot(
            path: document.path, data: data, createTime: document.createTime, updateTime: document.updateTime)
    }
}
