import Foundation
import SwitchyardWire
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One task of a session: collects the delegate's callbacks for the reader.
final class SessionExchange: HTTPBodySource {
    private typealias Head = Result<HTTPResponseHead, TransportError>
    private typealias Piece = Result<[UInt8]?, TransportError>

    private struct State {
        var headWaiter: CheckedContinuation<Head, Never>?
        var head: Head?
        var buffer: [UInt8] = []
        var reader: CheckedContinuation<Piece, Never>?
        var end: Result<Void, TransportError>?
        var received: Int64 = 0
        var isSuspended = false
        var abortReason: TransportError?
    }

    private static let capacity = 256 * 1024

    private let request: HTTPRequest
    private let task: URLSessionTask
    private let progress: TransferProgress?
    private let state = Mutex(State())

    init(_ request: HTTPRequest, task: URLSessionTask, progress: TransferProgress?) {
        self.request = request
        self.task = task
        self.progress = progress
    }

    /// Starts the task and waits for its head.
    func start() async throws(TransportError) -> HTTPResponseHead {
        let head = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Head, Never>) in
                let isCancelled = state.withLock { state in
                    if let head = state.head {
                        continuation.resume(returning: head)
                        return true
                    }
                    state.headWaiter = continuation
                    return false
                }
                if !isCancelled { task.resume() }
            }
        } onCancel: {
            cancelBeforeHead()
        }
        return try head.get()
    }

    /// A task that was never resumed does not report its cancellation.
    private func cancelBeforeHead() {
        task.cancel()
        finish(TransportError(.cancelled, "the exchange was cancelled", mayHaveBeenSent: true))
    }

    // MARK: The delegate

    /// Returns `false` if the task must be cancelled.
    func receive(_ response: HTTPURLResponse) -> Bool {
        var headers = HTTPHeaders()
        var size = 0
        for (name, value) in response.allHeaderFields {
            guard let name = name as? String, let value = value as? String else { continue }
            headers.add(name, value)
            size += name.utf8.count + value.utf8.count + 4
        }
        guard size <= request.maximumHeadSize else {
            abort(.headTooLarge, "the head of the answer exceeds \(request.maximumHeadSize) bytes")
            return false
        }
        deliver(.success(HTTPResponseHead(status: response.statusCode, headers: headers, url: request.url)))
        return true
    }

    func receive(_ data: Data) {
        var reader: CheckedContinuation<Piece, Never>?
        var isTooLarge = false
        state.withLock { state in
            state.received += Int64(data.count)
            if let limit = request.maximumStreamedSize, state.received > limit {
                isTooLarge = true
                return
            }
            if let waiting = state.reader {
                state.reader = nil
                reader = waiting
                return
            }
            state.buffer.append(contentsOf: data)
            if state.buffer.count > Self.capacity, !state.isSuspended {
                state.isSuspended = true
                task.suspend()
            }
        }
        if isTooLarge {
            abort(.bodyTooLarge, "the body exceeds \(request.maximumStreamedSize ?? 0) bytes")
            task.cancel()
        }
        reader?.resume(returning: .success(Array(data)))
    }

    func sent(_ count: Int64) {
        progress?(count)
    }

    func complete(_ error: (any Error)?) {
        let reason = state.withLock(\.abortReason)
        finish(reason ?? error.map { SessionErrors.error($0, isIdempotent: request.isIdempotent) })
    }

    func finish(_ error: TransportError?) {
        var reader: CheckedContinuation<Piece, Never>?
        state.withLock { state in
            guard state.end == nil else { return }
            state.end = error.map { .failure($0) } ?? .success(())
            swap(&reader, &state.reader)
        }
        deliver(.failure(error ?? TransportError(.badResponse, "there was no answer", mayHaveBeenSent: true)))
        reader?.resume(returning: error.map { .failure($0) } ?? .success(nil))
    }

    private func deliver(_ head: Head) {
        let waiter = state.withLock { state -> CheckedContinuation<Head, Never>? in
            guard state.head == nil else { return nil }
            state.head = head
            defer { state.headWaiter = nil }
            return state.headWaiter
        }
        waiter?.resume(returning: head)
    }

    private func abort(_ code: TransportError.Code, _ message: String) {
        state.withLock { $0.abortReason = TransportError(code, message, mayHaveBeenSent: true) }
    }

    // MARK: The reader

    func next() async throws(TransportError) -> [UInt8]? {
        if Task.isCancelled {
            cancel()
            throw TransportError(.cancelled, "reading the body was cancelled", mayHaveBeenSent: true)
        }
        let piece = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Piece, Never>) in
                if let piece = take(orLeave: continuation) { continuation.resume(returning: piece) }
            }
        } onCancel: {
            cancel()
        }
        return try piece.get()
    }

    func cancel() {
        guard state.withLock({ $0.end == nil }) else { return }
        task.cancel()
        finish(TransportError(.cancelled, "the exchange was cancelled", mayHaveBeenSent: true))
    }

    private func take(orLeave reader: CheckedContinuation<Piece, Never>) -> Piece? {
        state.withLock { state in
            if !state.buffer.isEmpty {
                var bytes: [UInt8] = []
                swap(&bytes, &state.buffer)
                if state.isSuspended {
                    state.isSuspended = false
                    task.resume()
                }
                return .success(bytes)
            }
            if let end = state.end { return end.map { nil } }
            guard state.reader == nil else {
                return .failure(TransportError(.invalidRequest, "two tasks read one body", mayHaveBeenSent: true))
            }
            state.reader = reader
            return nil
        }
    }
}

/// The body of an upload as a file, the only form that `URLSession` streams on all platforms.
final class UploadSpool: Sendable {
    let path: String
    private let isTemporary: Bool

    /// Writes `body` to a temporary file, unless it is already a complete file.
    init(_ body: RequestBody) async throws(TransportError) {
        if case .file(let path, nil) = body.content {
            guard FileManager.default.isReadableFile(atPath: path) else {
                throw TransportError(.requestBodyFailed, "the file cannot be opened")
            }
            self.path = path
            isTemporary = false
            return
        }
        path = FileManager.default.temporaryDirectory.appendingPathComponent("upload-\(UUID().uuidString)").path
        isTemporary = true
        try await FileSink.write(body, to: FileDestination(path))
    }

    deinit {
        if isTemporary { try? FileManager.default.removeItem(atPath: path) }
    }
}
