import Foundation
public import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardProviderKit
import SwitchyardWire

/// Calls a project's own functions, at the edge and in its database, in the name of the signed-in user.
///
/// ```swift
/// let functions = backend.storage.unwrapped(as: SupabaseStorageAdapter.self)?.functions
/// let answer = try await functions?.call(SupabaseFunctionCall("hello", json: ["name": "Alice"]))
/// let total: Int? = try await functions?.callDatabase("total", ["of": "points"])
/// ```
/// It works until the client it came from is shut down.
public final class SupabaseFunctions: Sendable {
    private let address: String
    private let tokens: SupabaseTokens
    private let database: PostgRESTService
    private let transport: any Transport
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Timestamp

    /// The maximum size of an answer that is not streamed, in bytes.
    private static let limit = 64 << 20
    /// How often a call that may be repeated is tried.
    private static let attempts = 3
    /// If the server asks for a longer pause, the call fails at once.
    private static let maximumPause = Duration.seconds(5)

    init(_ context: SupabaseContext) {
        address = context.project.functions
        tokens = context.tokens
        transport = context.transport
        clock = context.module.clock
        now = context.module.now
        database = PostgRESTService(
            project: context.project, tokens: context.tokens, transport: context.transport,
            clock: context.module.clock)
    }

    // MARK: At the edge

    /// - Throws: `.function` with the function's own answer if its status is not a success; `.relay` if the platform could not
    ///   run it, after repeating calls that may be repeated.
    public func call(_ call: SupabaseFunctionCall) async throws(SupabaseFunctionError) -> SupabaseFunctionAnswer {
        let (transport, clock) = (transport, clock)
        let deadline = call.deadline
        let response = try await repeated(call) { request throws(TransportError) in
            var request = request
            request.maximumBodySize = Self.limit
            request.idleLimit = deadline
            return try await transport.send(request, within: deadline, clock: clock)
        }
        return SupabaseFunctionAnswer(response.head, body: response.body)
    }

    /// Returns the answer piece by piece, as the function sends it, once the status is known. The deadline is for the status.
    public func stream(_ call: SupabaseFunctionCall) async throws(SupabaseFunctionError) -> SupabaseFunctionStream {
        let (transport, clock) = (transport, clock)
        let deadline = call.deadline
        return SupabaseFunctionStream(
            try await repeated(call) { request throws(TransportError) in
                var request = request
                // Streams may be idle for a long time.
                request.idleLimit = nil
                let complete = request
                return try await withDeadline(deadline, clock: clock, isIdempotent: request.isIdempotent) {
                    () throws(TransportError) in try await transport.stream(complete)
                }
            })
    }

    private func repeated<Answer: HTTPAnswer>(
        _ call: SupabaseFunctionCall, _ send: (HTTPRequest) async throws(TransportError) -> Answer
    ) async throws(SupabaseFunctionError) -> Answer {
        var pause = Duration.milliseconds(200)
        var attempt = 1
        while true {
            let failure: SupabaseFunctionError
            do throws(SupabaseFunctionError) {
                return try await authorized(call, send)
            } catch {
                failure = error
            }
            guard call.isIdempotent, failure.code == .relay || failure.code == .unavailable, failure.isRetryable,
                attempt < Self.attempts, failure.retryAfter ?? .zero <= Self.maximumPause
            else { throw failure }
            do {
                try await clock.sleep(for: max(pause, failure.retryAfter ?? .zero))
            } catch {
                throw SupabaseFunctionError(.cancelled, "The call was cancelled.")
            }
            pause *= 2
            attempt += 1
        }
    }

    /// Calls with the current token, and once more with a new one if the platform, not the function, refuses it.
    private func authorized<Answer: HTTPAnswer>(
        _ call: SupabaseFunctionCall, _ send: (HTTPRequest) async throws(TransportError) -> Answer
    ) async throws(SupabaseFunctionError) -> Answer {
        var request = try call.request(to: address)
        var refused: SupabaseTokens.RequestCredentials?
        while true {
            let credentials: SupabaseTokens.RequestCredentials
            do throws(SupabaseTokens.Failure) {
                credentials = try await tokens.credentials(replacing: refused)
                credentials.sign(&request.headers)
            } catch {
                throw SupabaseFunctionError(error)
            }
            let answer: Answer
            do throws(TransportError) {
                answer = try await send(request)
            } catch {
                throw SupabaseFunctionError(error)
            }
            if answer.head.isSuccess, !answer.head.isRelayFailure { return answer }
            let failure = SupabaseFunctionError(await answer.whole(), now: now())
            guard failure.code == .unauthenticated, tokens.canRefresh, refused == nil else { throw failure }
            refused = credentials
        }
    }

    // MARK: In the database

    /// Calls a function of the database with named arguments.
    ///
    /// - Parameters:
    ///   - name: The function's name.
    ///   - arguments: A value that encodes to a JSON object with the arguments.
    ///   - type: The type to decode the answer's JSON as.
    ///   - schema: The function's schema, if it is not the first one that the project exposes.
    ///   - isIdempotent: Whether the call may be repeated if the connection broke.
    /// - Throws: `.unsupported` if there is no such function; errors that the function raises, with their codes.
    public func callDatabase<Result: Decodable>(
        _ name: String, _ arguments: some Encodable = [String: String](), as type: Result.Type = Result.self,
        schema: String? = nil, isIdempotent: Bool = false
    ) async throws(StorageError) -> Result {
        let answer = try await answer(of: name, arguments, schema, isIdempotent)
        do {
            return try JSONBytesDecoder().decode(type, from: answer.isEmpty ? Array("null".utf8) : answer)
        } catch {
            throw StorageError(
                .codingFailed, "The function returned an unexpected response.", underlying: error)
        }
    }

    /// Calls a function of the database and ignores its answer.
    public func callDatabase(
        _ name: String, _ arguments: some Encodable = [String: String](), schema: String? = nil,
        isIdempotent: Bool = false
    ) async throws(StorageError) {
        _ = try await answer(of: name, arguments, schema, isIdempotent)
    }

    private func answer(
        of name: String, _ arguments: some Encodable, _ schema: String?, _ isIdempotent: Bool
    ) async throws(StorageError) -> [UInt8] {
        let object: JSONObject?
        do {
            object = try JSON(parsing: JSONBytesEncoder().encode(arguments)).object
        } catch {
            throw StorageError(.codingFailed, "The arguments cannot be encoded.", underlying: error)
        }
        guard let object else {
            throw StorageError(.invalidArgument, "A function of the database takes its arguments by their names.")
        }
        return try await database.answer(PercentCoding.encode(name), object, isIdempotent: isIdempotent, in: schema)
    }
}
