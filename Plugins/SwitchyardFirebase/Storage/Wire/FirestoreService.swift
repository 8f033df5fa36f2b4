import FirestoreFormat
import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardWire

/// One-shot calls to Firestore: a method for each, all through one place that authorises, sends and maps failures.
struct FirestoreService: Sendable {
    static let callDeadline = Duration.seconds(60)

    let database: FirestoreDatabase
    /// `https://…` or `http://…` of a local one, without a slash at the end.
    let address: String
    let transport: any Transport
    /// The header lines that say who asks; asked for at each call.
    let credentials: @Sendable () async throws(StorageError) -> [(String, String)]

    func documents(_ paths: [StoragePath]) async throws(StorageError) -> (
        found: [DocumentSnapshot], readTime: Timestamp?
    ) {
        let names = JSON.array(paths.map { .string(database.resourceName(of: $0)) })
        let answer = try await post(database.root, "batchGet", ["documents": names], isIdempotent: true)
        var byPath: [StoragePath: DocumentSnapshot] = [:]
        var readTime: Timestamp?
        for element in answer.array ?? [] {
            let result = try format { () throws(FirestoreFormatError) in
                try FirestoreAnswers.BatchGetElement(firestore: element, in: database)
            }
            if let document = result.document { byPath[document.path] = document }
            if let time = result.readTime { readTime = readTime.map { max($0, time) } ?? time }
        }
        var found: [DocumentSnapshot] = []
        for path in paths {
            guard let document = byPath[path] else {
                throw StorageError(.internal, "The server left out a document that was asked for.")
            }
            found.append(document)
        }
        return (found, readTime)
    }

    func results(of query: Query) async throws(StorageError) -> (documents: [DocumentSnapshot], readTime: Timestamp?) {
        let encoded = FirestoreQuery(query, in: database)
        let answer = try await post(
            encoded.parent, "runQuery", ["structuredQuery": encoded.structuredQuery], isIdempotent: true)
        let (documents, readTime) = try format { () throws(FirestoreFormatError) in
            try FirestoreAnswers.queryResults(firestore: answer, in: database)
        }
        return (encoded.isReversed ? documents.reversed() : documents, readTime)
    }

    func aggregate(_ query: Query, _ aggregations: [Aggregation]) async throws(StorageError) -> [DocumentValue] {
        let encoded = FirestoreQuery(query, in: database, for: .aggregation)
        let answer = try await post(
            encoded.parent, "runAggregationQuery", encoded.aggregationBody(aggregations), isIdempotent: true)
        return try format { () throws(FirestoreFormatError) in
            try FirestoreAnswers.aggregations(firestore: answer, count: aggregations.count, in: database)
        }
    }

    func commit(_ writes: [DocumentWrite]) async throws(StorageError) -> FirestoreWriteResults {
        let body: JSON = ["writes": .array(writes.map { $0.firestore(in: database) })]
        let answer = try await post(database.root, "commit", body, isIdempotent: false)
        return try format { () throws(FirestoreFormatError) in
            try FirestoreWriteResults(firestore: answer, in: database)
        }
    }

    private func format<Value>(
        _ decode: () throws(FirestoreFormatError) -> Value
    ) throws(StorageError) -> Value {
        do throws(FirestoreFormatError) { return try decode() } catch { throw StorageError(error) }
    }

    /// - Parameter parent: A resource name; slashes stay, everything else in it is encoded.
    private func post(
        _ parent: String, _ call: String, _ body: JSON, isIdempotent: Bool
    ) async throws(StorageError) -> JSON {
        let path = parent.split(separator: "/").map { PercentCoding.encode($0) }.joined(separator: "/")
        var request = HTTPRequest(
            .post, "\(address)/v1/\(path):\(call)", body: body.bytes(), isIdempotent: isIdempotent)
        request.headers["Content-Type"] = "application/json"
        request.maximumBodySize = 256 << 20
        for (name, value) in try await credentials() { request.headers[name] = value }
        let response: HTTPResponse
        let complete = request
        let transport = transport
        do throws(TransportError) {
            response = try await withDeadline(Self.callDeadline, isIdempotent: isIdempotent) {
                () throws(TransportError) in
                try await transport.send(complete)
            }
        } catch {
            throw StorageError(error)
        }
        guard response.isSuccess else {
            throw StorageError(FirestoreFailure(body: response.body, httpStatus: response.status))
        }
        do throws(JSONError) {
            return try JSON(parsing: response.body, options: JSONParsingOptions(loneSurrogates: .replace))
        } catch {
            throw StorageError(.unavailable, "The server's answer was cut short.", underlying: error)
        }
    }
}
