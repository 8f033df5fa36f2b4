import SwitchyardBytes
import Synchronization

/// A connection to a PostgreSQL server on this machine, served by a separate thread.
///
/// Units of statements are answered in order. If the connection breaks, all waiting units fail with "08006", and so do all
/// later ones.
package final class PostgresConnection: Sendable {
    private typealias Answer = Result<[PostgresResult], PostgresFailure>

    private struct Unit {
        let bytes: [UInt8]
        let done: CheckedContinuation<Answer, Never>
    }

    private struct Shared {
        var fresh: [Unit] = []
        var names = PostgresStatementNames()
        var isClosed = false
    }

    private let shared = Mutex(Shared())
    private let wake: WakePipe
    private let descriptor: Int32
    private let notified: @Sendable (_ channel: String, _ payload: String) -> Void
    private let ended: @Sendable () -> Void

    /// Connects as `user` without a password, which a private server allows.
    ///
    /// - Parameters:
    ///   - patience: How long the server may take to answer.
    ///   - notified: Called on the connection's thread for notifications to listeners; it must not wait.
    ///   - ended: Called on the same thread once the connection is unusable; it must not wait either.
    package init(
        port: UInt16, user: String, database: String, patience: Duration = .seconds(10),
        notified: @escaping @Sendable (_ channel: String, _ payload: String) -> Void = { _, _ in },
        ended: @escaping @Sendable () -> Void = {}
    ) async throws(PostgresFailure) {
        self.notified = notified
        self.ended = ended
        do throws(ServerError) {
            descriptor = try Socket.connect(to: .ipv4, port: port)
            wake = try WakePipe()
        } catch {
            throw PostgresFailure(code: "08001", message: "the database cannot be reached")
        }
        // A listener at that port that is no database may never answer.
        let waiting = Task { [self] in
            try await Task.sleep(for: patience)
            close()
        }
        let answer = await withCheckedContinuation { continuation in
            let greeting = Unit(
                bytes: PostgresFrontend.startup(user: user, database: database), done: continuation)
            do throws(LoopThread.Refusal) {
                try LoopThread.start { [self] in run(greeting) }
            } catch {
                Socket.close(descriptor)
                wake.close()
                continuation.resume(returning: .failure(.disconnected))
            }
        }
        waiting.cancel()
        guard case .failure(let failure) = answer else { return }
        close()
        throw failure
    }

    /// Runs the statements as one transaction and returns the result of each.
    package func run(_ statements: [PostgresStatement]) async throws(PostgresFailure) -> [PostgresResult] {
        let results = try await run { shared in
            shared.names.prepare(statements)
            return PostgresFrontend.run(statements, names: shared.names)
        }
        if statements.contains(where: \.isKept) { shared.withLock { $0.names.parsed(statements) } }
        return results
    }

    /// Runs a text of several statements, as one transaction unless it contains its own. After a failure in a transaction of
    /// its own, the connection is unusable.
    @discardableResult
    package func run(script: String) async throws(PostgresFailure) -> [PostgresResult] {
        try await run { _ in PostgresFrontend.run(script: script) }
    }

    private func run(
        _ bytes: (inout Shared) -> [UInt8]
    ) async throws(PostgresFailure) -> [PostgresResult] {
        try await withCheckedContinuation { continuation in
            let isOpen = shared.withLock { shared in
                guard !shared.isClosed else { return false }
                shared.fresh.append(Unit(bytes: bytes(&shared), done: continuation))
                // Under the lock, since the thread closes the pipe once it is closed.
                wake.wake()
                return true
            }
            if !isOpen { continuation.resume(returning: .failure(.disconnected)) }
        }.get()
    }

    /// Ends the connection at once.
    package func close() {
        shared.withLock { shared in
            guard !shared.isClosed else { return }
            shared.isClosed = true
            wake.wake()
        }
    }

    package var isOpen: Bool { shared.withLock { !$0.isClosed } }

    // MARK: The thread

    private func run(_ greeting: Unit) {
        var poller = Poller()
        var reader = PostgresBackend.Reader()
        var collector = PostgresCollector()
        var outgoing = greeting.bytes[...]
        var waiting = [greeting][...]
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 1)
        defer { buffer.deallocate() }
        poller.watch(wake.reader, reading: true, writing: false)

        loop: while true {
            poller.watch(descriptor, reading: true, writing: !outgoing.isEmpty)
            for ready in poller.wait(timeout: -1) where ready.descriptor == wake.reader {
                wake.drain()
            }
            let (fresh, isClosed) = shared.withLock { shared in
                defer { shared.fresh = [] }
                return (shared.fresh, shared.isClosed)
            }
            waiting += fresh
            for unit in fresh { outgoing += unit.bytes }
            if isClosed {
                _ = PostgresFrontend.terminate.withUnsafeBytes { Socket.send(descriptor, $0) }
                break
            }
            if !outgoing.isEmpty {
                switch outgoing.withUnsafeBytes({ Socket.send(descriptor, $0) }) {
                case .bytes(let count): outgoing = outgoing.dropFirst(count)
                case .wouldBlock: break
                case .end, .broken: break loop
                }
            }
            switch Socket.receive(descriptor, into: buffer) {
            case .bytes(let count): reader.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            case .wouldBlock: continue
            case .end, .broken: break loop
            }
            while let message = reader.next() {
                if case .notification(let channel, let payload) = message {
                    notified(channel, payload)
                } else if let answer = collector.take(message) {
                    waiting.popFirst()?.done.resume(returning: answer)
                }
            }
        }

        let rest = shared.withLock { shared in
            shared.isClosed = true
            defer { shared.fresh = [] }
            return shared.fresh
        }
        Socket.close(descriptor)
        wake.close()
        let failure = collector.failure ?? .disconnected
        for unit in waiting + rest { unit.done.resume(returning: .failure(failure)) }
        ended()
    }
}

/// The result of one statement.
package struct PostgresResult: Sendable {
    package var columns: [String] = []
    package var rows: [[[UInt8]?]] = []
    /// Such as "SELECT 2" or "INSERT 0 1".
    package var tag = ""

    /// The first value of the first row, as text.
    package var text: String? { rows.first?.first.flatMap { $0 }.map { String(decoding: $0, as: UTF8.self) } }
}

/// Collects messages into the answer of a unit.
private struct PostgresCollector {
    private var results: [PostgresResult] = []
    private var current = PostgresResult()
    private(set) var failure: PostgresFailure?

    /// - Returns: The answer, if this message was its last.
    mutating func take(_ message: PostgresBackend) -> Result<[PostgresResult], PostgresFailure>? {
        switch message {
        case .columns(let names): current.columns = names
        case .row(let values): current.rows.append(values)
        case .complete(let tag):
            current.tag = tag
            results.append(current)
            current = PostgresResult()
        case .failure(let reason): failure = reason
        case .authentication(let kind) where kind != 0:
            // The server now waits a minute for the password.
            return .failure(
                PostgresFailure(
                    code: "28000",
                    message: "the database asks for a password; set it up to trust this machine's users"))
        case .ready:
            defer { self = PostgresCollector() }
            return failure.map { .failure($0) } ?? .success(results)
        case .authentication, .notification, .other: break
        }
        return nil
    }
}

/// A connection's names for prepared statements, and which of them the server has parsed.
struct PostgresStatementNames: Sendable {
    private var names: [String: String] = [:]
    private var ready: Set<String> = []
    private let limit: Int

    /// For a connection without prepared statements.
    static let none = PostgresStatementNames(limit: 0)

    /// - Parameter limit: The maximum number of prepared statements; others are parsed each time.
    init(limit: Int = 200) { self.limit = limit }

    func name(of statement: PostgresStatement) -> String? { statement.isKept ? names[statement.sql] : nil }

    func isReady(_ statement: PostgresStatement) -> Bool { statement.isKept && ready.contains(statement.sql) }

    /// Names the statements to keep that have no name yet.
    mutating func prepare(_ statements: [PostgresStatement]) {
        for statement in statements where statement.isKept && names[statement.sql] == nil && names.count < limit {
            names[statement.sql] = "kept\(names.count)"
        }
    }

    /// The unit with these statements has succeeded, so the server knows them.
    mutating func parsed(_ statements: [PostgresStatement]) {
        for statement in statements where name(of: statement) != nil { ready.insert(statement.sql) }
    }
}
