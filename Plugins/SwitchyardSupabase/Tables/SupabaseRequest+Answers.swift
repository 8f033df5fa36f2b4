public import Foundation
public import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit
import SwitchyardWire

/// One page of rows.
public struct SupabasePage<Row: Sendable>: Sendable {
    public let rows: [Row]
    /// The position of the first row.
    public let offset: Int
    /// The total number of rows, if they were counted.
    public let total: Int?
    /// Whether more rows follow, if they were counted. The service returns no more rows at once than the project's maximum.
    public var hasMore: Bool? { total.map { offset + rows.count < $0 } }
}

extension SupabasePage: Equatable where Row: Equatable {}

/// Sending a request.
extension SupabaseRequest {
    /// All rows of the answer, which are at most as many as the project allows: a thousand on hosted ones. ``page(count:as:)``
    /// says whether that was all.
    ///
    /// - Throws: `.invalidArgument`, `.unauthorized` and others, with the database's own message; `.codingFailed` if a row
    ///   cannot be decoded.
    public func rows<Row: Decodable>(as type: Row.Type = Row.self) async throws(StorageError) -> [Row] {
        try decoded([Row].self, from: try await send().body)
    }

    /// The only matching row.
    ///
    /// - Throws: `.notFound` if there is none; `.failedPrecondition` if there are several, which then were not changed.
    public func row<Row: Decodable>(as type: Row.Type = Row.self) async throws(StorageError) -> Row {
        let answer: HTTPResponse
        do throws(StorageError) {
            answer = try await send(accepting: "application/vnd.pgrst.object+json")
        } catch {
            guard let failure = error.underlying as? PostgRESTFailure, failure.code == "PGRST116" else { throw error }
            throw failure.details?.includes("0 rows") == true
                ? StorageError(.notFound, "No row of “\(path)” matches.", underlying: failure)
                : StorageError(
                    .failedPrecondition, "Several rows of “\(path)” match, where one was asked for.",
                    isRetryable: false, underlying: failure)
        }
        return try decoded(Row.self, from: answer.body)
    }

    /// The first row, or `nil` if there is none.
    public func first<Row: Decodable>(as type: Row.Type = Row.self) async throws(StorageError) -> Row? {
        try await (method == .get ? limit(1) : self).rows(as: type).first
    }

    /// The value of a function that returns no rows.
    public func value<Value: Decodable>(as type: Value.Type = Value.self) async throws(StorageError) -> Value {
        let body = try await send().body
        return try decoded(Value.self, from: body.isEmpty ? Array("null".utf8) : body)
    }

    /// The rows of the range, and the total number of rows.
    public func page<Row: Decodable>(
        count: Count = .exact, as type: Row.Type = Row.self
    ) async throws(StorageError) -> SupabasePage<Row> {
        var request = self
        request.prefer("count=\(count.rawValue)")
        let answer: HTTPResponse
        do throws(StorageError) { answer = try await request.send() } catch {
            guard let failure = error.underlying as? PostgRESTFailure, failure.code == "PGRST103" else { throw error }
            // Beyond the last row.
            return SupabasePage(rows: [], offset: startOffset, total: try await self.count(count))
        }
        return SupabasePage(
            rows: try decoded([Row].self, from: answer.body), offset: startOffset, total: try Self.total(of: answer))
    }

    /// The number of matching rows, without reading them.
    public func count(_ kind: Count = .exact) async throws(StorageError) -> Int {
        var request = SupabaseRequest(service, .head, path, schema: schema, isIdempotent: true)
        for (name, value) in parameters where !["limit", "offset", "order"].contains(name) { request.add(name, value) }
        request.prefer("count=\(kind.rawValue)")
        if let mistake { throw mistake }
        return try Self.total(of: try await request.send()) ?? 0
    }

    /// Sends the request and ignores the answer's rows.
    public func run() async throws(StorageError) { _ = try await send() }

    /// The unprocessed answer.
    public func data() async throws(StorageError) -> Data { Data(try await send().body) }

    /// The database's plan for the request, if the project exposes plans.
    ///
    /// - Parameter analyze: Runs the request, and shows its actual cost.
    public func explain(analyze: Bool = false) async throws(StorageError) -> String {
        let options = analyze ? "; options=analyze" : ""
        let answer = try await send(accepting: "application/vnd.pgrst.plan+text\(options)")
        return String(decoding: answer.body, as: UTF8.self)
    }

    private var startOffset: Int { parameters.last { $0.name == "offset" }.flatMap { Int($0.value) } ?? 0 }

    private func send(accepting type: String? = nil) async throws(StorageError) -> HTTPResponse {
        if let mistake { throw mistake }
        guard hasFilter || !needsFilter else {
            throw StorageError(
                .invalidArgument,
                "\(method) of “\(path)” has no filter and would concern every row. Add one, such as eq(\"id\", id); for all rows, "
                    + "one that all meet, such as isNotNull(\"id\").")
        }
        let query = parameters.isEmpty ? "" : "?" + FormCoding.encode(parameters, space: .percent)
        var request = HTTPRequest(
            method, "\(service.project.rest)/\(path)\(query)", body: body, isIdempotent: isIdempotent)
        request.headers["Accept"] = type
        if !body.isEmpty { request.headers["Content-Type"] = "application/json" }
        request.headers[method == .get || method == .head ? "Accept-Profile" : "Content-Profile"] = schema
        if !preferences.isEmpty { request.headers["Prefer"] = preferences.joined(separator: ", ") }
        return try await service.send(request)
    }

    private func decoded<Value: Decodable>(_ type: Value.Type, from body: [UInt8]) throws(StorageError) -> Value {
        guard returnsRows || !body.isEmpty else {
            throw StorageError(
                .invalidArgument,
                "\(method) of “\(path)” returns no rows. Say which columns to return: returning: \"*\".")
        }
        do {
            return try JSONBytesDecoder().decode(type, from: body)
        } catch {
            throw StorageError(
                .codingFailed, "The answer of “\(path)” is not a \(type): \(DecodingWords.of(error))",
                isRetryable: false,
                underlying: error)
        }
    }

    /// The number after the slash of `0-9/42`.
    private static func total(of answer: HTTPResponse) throws(StorageError) -> Int? {
        guard let text = answer.headers["Content-Range"]?.split(separator: "/").last, text != "*" else { return nil }
        guard let number = Int(text) else { throw .unreadableAnswer }
        return number
    }
}

/// The path at which decoding failed, without values.
private enum DecodingWords {
    static func of(_ error: any Error) -> String {
        guard let error = error as? DecodingError else { return "its text is not JSON." }
        let (context, what): (DecodingError.Context, String) =
            switch error {
            case .keyNotFound(let key, let context): (context, "“\(key.stringValue)” is missing")
            case .typeMismatch(let type, let context): (context, "it is not of the type \(type)")
            case .valueNotFound(let type, let context): (context, "it is null instead of \(type)")
            case .dataCorrupted(let context): (context, "it does not fit")
            @unknown default: (DecodingError.Context(codingPath: [], debugDescription: ""), "it does not fit")
            }
        let path = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? ".\($0.stringValue)" }.joined()
        return path.isEmpty ? "\(what)." : "at \(path.drop { $0 == "." }), \(what)."
    }
}
