import Synchronization

/// Ends calls and streams at the deadline of the current task's request. Without a request, it costs only a task-local
/// look-up.
struct DeadlineLayer: ClientLayer {
    func call<Result, Failure: ClientError>(
        _ call: ClientCall, _ body: () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        if RequestDeadline.hasPassed {
            throw Failure(
                .deadlineExceeded,
                "The request's deadline had passed before “\(call.operation)” on “\(call.provider)” began. Nothing was done."
            )
        }
        return try await RequestDeadline.hold(body) {
            let doubt = call.isRepeatable ? "" : " It may have been done all the same: look before you do it again."
            return "The request's deadline passed before “\(call.operation)” on “\(call.provider)” had ended.\(doubt)"
        }
    }

    func stream<Element: Sendable, Failure: Error>(
        _ call: ClientCall, _ stream: SnapshotStream<Element, Failure>
    ) -> SnapshotStream<Element, Failure> {
        guard let late = Self.lateError(call, Failure.self) else { return stream }
        return SnapshotStream(from: { [makeSource = stream.makeSource] in DeadlineSource(makeSource(), late) })
    }

    func stream<Element: Sendable, Failure: Error>(
        _ call: ClientCall, _ stream: EventStream<Element, Failure>
    ) -> EventStream<Element, Failure> {
        guard let late = Self.lateError(call, Failure.self) else { return stream }
        return EventStream(from: { [makeSource = stream.makeSource] in DeadlineSource(makeSource(), late) })
    }

    /// `nil` for streams that cannot fail: they report the signed-in user, and clients depend on them.
    private static func lateError<Failure: Error>(_ call: ClientCall, _: Failure.Type) -> Failure? {
        guard let type = Failure.self as? any ClientError.Type else { return nil }
        let text = "The request's deadline passed while “\(call.operation)” on “\(call.provider)” was followed."
        return type.init(.deadlineExceeded, text) as? Failure
    }
}

/// Elements of another source, until the deadline of the request of the task that fetches them.
private final class DeadlineSource<Element: Sendable, Failure: Error>: StreamSource {
    private let base: Mutex<(any StreamSource<Element, Failure>)?>
    /// The error to end with, once.
    private let late: Failure

    init(_ base: any StreamSource<Element, Failure>, _ late: Failure) {
        self.base = Mutex(base)
        self.late = late
    }

    func begin() async { await base.withLock { $0 }?.begin() }

    func next() async throws(Failure) -> Element? {
        guard let base = base.withLock({ $0 }) else { return nil }
        guard let deadline = RequestDeadline.current else { return try await base.next() }
        // An element that was on its way at the deadline has been delivered, and its source was cancelled.
        if deadline <= .now { throw leaving() }
        let (result, isLate) = await RequestDeadline.race(
            { () async throws(Failure) -> Element? in try await base.next() }, until: deadline)
        let element = try result.get()
        // Sources end this way when they are cancelled.
        guard element == nil, isLate, !Task.isCancelled else { return element }
        throw leaving()
    }

    private func leaving() -> Failure {
        base.withLock { $0 = nil }
        return late
    }
}
