import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardSync
import SwitchyardWire

/// Calls of functions in a project's database.
struct PostgRESTService: Sendable {
    let project: SupabaseProject
    /// The tokens of the calls.
    private(set) var tokens: SupabaseTokens
    let transport: any Transport
    /// The clock for deadlines.
    var clock: any Clock<Duration> = ContinuousClock()
    /// Checks that the functions exist before the first call; `nil` to skip the check.
    var gate: SchemaCheck?
    var now: @Sendable () -> Timestamp = { Timestamp(Date()) }
    /// Whether a call that may be repeated outlasts a short absence of the database.
    private var isPatient = false

    /// This service for calls that a caller waits for and no one else repeats.
    var patient: PostgRESTService {
        var service = self
        service.isPatient = true
        return service
    }

    init(
        project: SupabaseProject, tokens: SupabaseTokens, transport: any Transport,
        clock: any Clock<Duration> = ContinuousClock(), gate: SchemaCheck? = nil,
        now: @escaping @Sendable () -> Timestamp = { Timestamp(Date()) }
    ) {
        self.project = project
        self.tokens = tokens
        self.transport = transport
        self.clock = clock
        self.gate = gate
        self.now = now
    }

    private static let deadline = Duration.seconds(60)
    private static let idleLimit = Duration.seconds(30)
    private static let maximumAnswer = 256 << 20
    /// How long a call waits for a database whose clock is behind; the service itself tolerates half a minute.
    private static let pausesForClock: [Duration] = [1, 2, 4, 6, 8, 10].map { .seconds($0) }
    /// A column holds numbers of any size, and the database orders those beyond a double as infinite, too.
    private static let options = JSONParsingOptions(largeNumbers: .infinite)

    /// - Parameters:
    ///   - isIdempotent: Whether the call may be repeated if the connection broke.
    ///   - isForQueue: Whether the call is made for a queued batch, which keeps waiting if the database is not ready.
    ///   - batch: The batch to commit, which must not be sent in another user's name.
    ///   - reader: The only user whose rights the answer may reflect; omitted if any user will do.
    func call(
        _ function: String, _ arguments: JSONObject, isIdempotent: Bool, isForQueue: Bool = false,
        for batch: OutgoingBatch? = nil, as reader: CallOwner? = nil
    ) async throws(StorageError) -> JSON {
        try await outlasting(isIdempotent) { () throws(StorageError) in
            try await callOnce(
                function, arguments, isIdempotent: isIdempotent, isForQueue: isForQueue, for: batch, as: reader
            ) { body throws(StorageError) in try parsed(body, of: function) ?? .null }
        }
    }

    /// Calls a function that only reads, and indexes its answer, which may be large.
    func read(_ function: String, _ arguments: JSONObject) async throws(StorageError) -> IndexedJSON {
        try await outlasting(true) { () throws(StorageError) in
            try await callOnce(
                function, arguments, isIdempotent: true, isForQueue: false, for: nil, as: nil
            ) { body throws(StorageError) in
                guard let answer = try indexed(body, of: function) else { throw .unreadableAnswer }
                return answer
            }
        }
    }

    /// Repeats a call that may be repeated while the database is away, if this service is patient.
    private func outlasting<Answer>(
        _ mayRepeat: Bool, _ call: () async throws(StorageError) -> Answer
    ) async throws(StorageError) -> Answer {
        try await Patience(clock: clock).outlasting(
            { (error: StorageError) -> Duration? in
                guard isPatient, mayRepeat else { return nil }
                return error.pauseBeforeRepetition { (failure: PostgRESTFailure) in
                    failure.isPassing ? failure.retryAfter ?? .zero : nil
                }
            }, call)
    }

    private func callOnce<Answer>(
        _ function: String, _ arguments: JSONObject, isIdempotent: Bool, isForQueue: Bool, for batch: OutgoingBatch?,
        as reader: CallOwner?, _ read: ([UInt8]) throws(StorageError) -> Answer
    ) async throws(StorageError) -> Answer {
        _ = try await installedVersion(isForQueue: isForQueue || batch != nil)
        do throws(StorageError) {
            return try read(
                try await answer(function, arguments, isIdempotent: isIdempotent, for: batch, as: reader))
        } catch {
            guard isForQueue || batch != nil, let failure = error.underlying as? PostgRESTFailure,
                failure.isAboutMissingParts, !failure.isAboutSession
            else { throw error }
            // The functions existed before: the service has not noticed a change yet, or a change is in progress.
            gate?.close()
            throw StorageError(
                .failedPrecondition, SetUpWords.missingParts(failure.words), isRetryable: true, underlying: failure)
        }
    }

    /// The version of the functions in the database; without a gate, the newest.
    ///
    /// - Parameter isForQueue: As for calls.
    func installedVersion(isForQueue: Bool) async throws(StorageError) -> Int {
        do throws(StorageError) {
            return try await gate?.pass(self) ?? DocumentSchema.version
        } catch {
            guard isForQueue else { throw error }
            // The answer was not about the batch.
            guard error.underlying is SupabaseSchemaProblem else { throw error.asRefusal(false) }
            // Queued writes wait until the database is ready.
            throw StorageError(error.code, error.message, isRetryable: true, underlying: error.underlying)
        }
    }

    /// Calls a function without checking whether it exists.
    ///
    /// - Parameter schema: The function's schema; `nil` for the first one that the project exposes.
    func send(
        _ function: String, _ arguments: JSONObject, isIdempotent: Bool, in schema: String? = nil,
        for batch: OutgoingBatch? = nil, as reader: CallOwner? = nil
    ) async throws(StorageError) -> JSON {
        let body = try await answer(function, arguments, isIdempotent: isIdempotent, in: schema, for: batch, as: reader)
        return try parsed(body, of: function) ?? .null
    }

    /// An answer's body; `nil` if there is none.
    func parsed(_ body: [UInt8], of asked: String) throws(StorageError) -> JSON? {
        try read(body, of: asked) { (body) throws(JSONError) in try JSON(parsing: body, options: Self.options) }
    }

    /// The same without a tree, for a large answer.
    func indexed(_ body: [UInt8], of asked: String) throws(StorageError) -> IndexedJSON? {
        try read(body, of: asked) { (body) throws(JSONError) in try IndexedJSON(parsing: body) }
    }

    private func read<Value>(
        _ body: [UInt8], of asked: String, _ parse: ([UInt8]) throws(JSONError) -> Value
    ) throws(StorageError) -> Value? {
        if body.isEmpty { return nil }
        do throws(JSONError) {
            return try parse(body)
        } catch {
            guard !body.isWebPage else {
                throw StorageError(
                    .unavailable, SetUpWords.stranger(at: project.address, status: 200, isPage: true),
                    underlying: error)
            }
            if error.reason == .tooDeep {
                throw StorageError(
                    .codingFailed,
                    "The answer of “\(asked)” has a value nested deeper than \(Self.options.maximumDepth) levels, which cannot "
                        + "be read. Find and flatten it in the database: clients of this package write none.",
                    underlying: error)
            }
            throw StorageError(.unavailable, "The server's response was cut short.", underlying: error)
        }
    }

    /// The same, returning the unparsed answer.
    func answer(
        _ function: String, _ arguments: JSONObject, isIdempotent: Bool, in schema: String? = nil,
        for batch: OutgoingBatch? = nil, as reader: CallOwner? = nil
    ) async throws(StorageError) -> [UInt8] {
        var request = HTTPRequest(
            .post, "\(project.rest)/rpc/\(function)", body: JSON.object(arguments).bytes(), isIdempotent: isIdempotent)
        request.headers = ["Content-Type": "application/json"]
        request.headers["Content-Profile"] = schema
        return try await authorized(request, for: batch, as: reader).body
    }

    /// Sends a request of one's own. One that may be repeated outlasts a short absence of the database if the service is patient.
    ///
    /// - Parameters:
    ///   - batch: The batch to commit, which must not be sent in another user's name.
    ///   - reader: The only user whose rights the answer may reflect; omitted if any user will do.
    func send(
        _ request: HTTPRequest, for batch: OutgoingBatch? = nil, as reader: CallOwner? = nil
    ) async throws(StorageError) -> HTTPResponse {
        try await outlasting(request.isIdempotent) { () throws(StorageError) in
            try await authorized(request, for: batch, as: reader)
        }
    }

    /// Sends with the current tokens, and with new ones if those are refused.
    private func authorized(
        _ request: HTTPRequest, for batch: OutgoingBatch? = nil, as reader: CallOwner? = nil
    ) async throws(StorageError) -> HTTPResponse {
        var refused: SupabaseTokens.RequestCredentials?
        var last: SupabaseTokens.RequestCredentials?
        var isRenewed = false
        var pauses = Self.pausesForClock[...]
        while true {
            var request = request
            let proof = try await proof(for: batch, as: reader, replacing: refused, after: last)
            (refused, last) = (nil, proof)
            proof.sign(&request.headers)
            request.maximumBodySize = Self.maximumAnswer
            request.idleLimit = Self.idleLimit
            let response = try await exchange(request)
            if response.isSuccess { return response }
            var failure = PostgRESTFailure(status: response.status, body: response.body)
            failure.retryAfter = response.headers["Retry-After"].flatMap { RetryAfter.delay($0, now: now().seconds) }
            failure.clockRemark = DeviceClock.remark(response.headers, now: now())
            if failure.isAboutFuture, let token = proof.user {
                if tokens.hasPrevious(insteadOf: token, at: now()) { continue }
                // Not where this device's clock is to be set, which waiting does not do.
                if failure.clockRemark == nil, let pause = pauses.popFirst() {
                    try await wait(pause)
                    continue
                }
            }
            guard failure.isAboutToken, tokens.canRefresh, !isRenewed else {
                if batch != nil, proof.user == nil, failure.code == "42501" {
                    // The batch stays unauthenticated, even if someone signs in later.
                    throw StorageError(
                        .unauthorized, "No one is signed in, and the policies do not allow it (\(failure.words)).",
                        isRetryable: false, underlying: failure, isRefusal: true)
                }
                let error = StorageError(failure, asked: proof, issuer: tokens.issuer, at: project.address)
                // The new token was refused, too.
                throw isRenewed && error.code == .unauthenticated ? error.asLasting() : error
            }
            (refused, isRenewed) = (proof, true)
        }
    }

    /// The current user, in whose name calls are made; none with only a key.
    func reader() async throws(StorageError) -> CallOwner {
        CallOwner(try await proof(for: nil, as: nil, replacing: nil).user?.userID)
    }

    /// This service for a series of calls of the current user. Calls fail once another user signs in.
    func bound() async throws(StorageError) -> PostgRESTService {
        var service = self
        service.tokens = tokens.bound(to: try await reader())
        return service
    }

    private func proof(
        for batch: OutgoingBatch?, as reader: CallOwner?, replacing refused: SupabaseTokens.RequestCredentials?,
        after last: SupabaseTokens.RequestCredentials? = nil
    ) async throws(StorageError) -> SupabaseTokens.RequestCredentials {
        let proof: SupabaseTokens.RequestCredentials
        do throws(SupabaseTokens.Failure) {
            let owner = batch.map { CallOwner($0.userID) } ?? reader
            proof = try await (owner.map { tokens.bound(to: $0) } ?? tokens).credentials(
                replacing: refused, after: last)
        } catch {
            if error.isOtherUser, batch != nil || reader != nil {
                // A batch waits for its own user; a stream is reopened for the next one.
                let since = batch != nil ? "batch was written" : "stream began"
                throw StorageError(
                    .unavailable, "Another user has signed in since the \(since).", underlying: error)
            }
            let code: StorageError.Code =
                switch error.code {
                case .cancelled: .cancelled
                case .shutDown: .shutDown
                default: error.isOtherUser ? .sessionChanged : .unauthenticated
                }
            throw StorageError(code, error.message, isRetryable: error.isTemporary, underlying: error.cause)
        }
        return proof
    }

    private func wait(_ pause: Duration) async throws(StorageError) {
        do { try await clock.sleep(for: pause) } catch {
            throw StorageError(.cancelled, "The call was cancelled.", underlying: error)
        }
    }

    private func exchange(_ request: HTTPRequest) async throws(StorageError) -> HTTPResponse {
        do throws(TransportError) {
            return try await transport.send(request, within: Self.deadline, clock: clock)
        } catch {
            throw StorageError(error)
        }
    }
}
