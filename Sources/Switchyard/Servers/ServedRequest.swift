import Synchronization

/// The server request for which calls are made; see ``withRequest(id:deadline:trace:isolation:_:)``.
public struct ServedRequest: Sendable, Hashable {
    /// Appears in every ``InfrastructureEvent`` of the request's calls.
    public let id: String?
    /// When the sender of the request stops waiting for the answer.
    public let deadline: ContinuousClock.Instant?
    /// The trace that the request belongs to, which the HTTP requests of its calls carry on.
    public let trace: TraceContext?

    /// The request of the current task and its child tasks while the work for it goes on. Tasks that live longer, such as an
    /// engine that the first request started, belong to no request afterwards.
    public static var current: ServedRequest? { RequestScope.current?.request }

    /// - Parameters:
    ///   - id: May come from the request itself. Characters that do not belong in a log line are removed, and everything after
    ///     the 128th.
    ///   - deadline: `nil` to wait as long as each call does on its own.
    ///   - trace: `nil` if the request belongs to no trace.
    public init(id: String? = nil, deadline: ContinuousClock.Instant? = nil, trace: TraceContext? = nil) {
        let visible = (id ?? "").unicodeScalars.filter { (0x21..<0x7F).contains($0.value) }.prefix(128)
        self.id = visible.isEmpty ? nil : String(String.UnicodeScalarView(visible))
        self.deadline = deadline
        self.trace = trace
    }
}

/// Runs `body` for one request of a server: its calls end at `deadline`, and the events of its calls carry `id` and `trace`.
///
/// ```swift
/// let answer = try await withRequest(id: request.headers["X-Request-ID"], deadline: .now + .seconds(5)) {
///     try await backend.acting(as: caller).storage.documents(orders)
/// }
/// ```
/// Calls of an ``Infrastructure``'s clients, and of clients that act for a caller, are cancelled at the deadline and throw
/// `.deadlineExceeded`; calls that begin later throw it at once. Streams that are being followed throw it, too, and so does
/// ``FileTransfer/result()``, which cancels its transfer. Streams that cannot fail go on, and so do transfers that no task
/// waits for. A request inside another has the earlier of the two deadlines, and the outer ID and trace if it has none.
///
/// The HTTP requests of the calls carry `trace` to the backend. Connections that stay open, such as those of streams, and
/// writes that are sent from a queue belong to no request and carry none.
@discardableResult
public func withRequest<Value, Failure: Error>(
    id: String? = nil, deadline: ContinuousClock.Instant? = nil, trace: TraceContext? = nil,
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws(Failure) -> Value
) async throws(Failure) -> Value {
    let outer = ServedRequest.current
    let inner = ServedRequest(id: id, deadline: deadline)
    let request = ServedRequest(
        id: inner.id ?? outer?.id, deadline: [deadline, outer?.deadline].compactMap { $0 }.min(),
        trace: trace ?? outer?.trace)
    let scope = RequestScope(request, in: RequestScope.current)
    defer { scope.end() }
    let result: Result<Value, Failure> = await RequestScope.$innermost.withValue(scope) {
        do throws(Failure) {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }
    return try result.get()
}

/// Belonging to the current task's request, to be handed to a task that goes on for its consumer.
struct RequestMembership: Sendable {
    private let scope = RequestScope.current

    func run(_ body: () async -> Void) async { await RequestScope.$innermost.withValue(scope, operation: body) }
}

/// Exists while a request is being served.
private final class RequestScope: Sendable {
    @TaskLocal static var innermost: RequestScope?

    let request: ServedRequest
    private let outer: RequestScope?
    private let isOver = Atomic(false)

    init(_ request: ServedRequest, in outer: RequestScope?) {
        self.request = request
        self.outer = outer
    }

    /// The innermost scope that has not ended.
    static var current: RequestScope? {
        var scope = innermost
        while let next = scope, next.isOver.load(ordering: .acquiring) { scope = next.outer }
        return scope
    }

    func end() { isOver.store(true, ordering: .releasing) }
}
