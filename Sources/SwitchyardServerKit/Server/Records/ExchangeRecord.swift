import SwitchyardBytes
package import SwitchyardWire
import Synchronization

/// Who is shown the exchanges of a server while they happen.
package protocol ExchangeObserver: AnyObject, Sendable {
    /// Called on the server's thread, for each request except those that control faults. It must not wait.
    ///
    /// - Returns: `nil` if this exchange is not recorded.
    func began(_ request: ServerRequest) -> ExchangeRecord?

    /// Whether a request is the observer's own, for which no faults count.
    func isOwn(_ request: ServerRequest) -> Bool
}

/// A request and what became of it, with the beginning of its bodies.
package final class ExchangeRecord: Sendable {
    /// The record of the request that the current task answers.
    @TaskLocal package static var current: ExchangeRecord?

    package enum Phase: Sendable { case waiting, answering, done, abandoned }

    /// What is kept of a body.
    package struct Content: Sendable {
        package private(set) var bytes: [UInt8] = []
        package private(set) var count = 0
        package var isTruncated: Bool { count > bytes.count }

        /// Forgets what was kept. Nothing is kept from then on.
        fileprivate mutating func drop() {
            bytes = []
            room = 0
        }

        private var room = ExchangeRecord.bodyLimit

        mutating func append(_ piece: UnsafeRawBufferPointer) {
            count += piece.count
            let kept = piece.prefix(room)
            room -= kept.count
            bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: kept))
        }
    }

    package struct State: Sendable {
        package internal(set) var phase = Phase.waiting
        package internal(set) var requestBody = Content()
        package internal(set) var status: Int?
        package internal(set) var responseHeaders = HTTPHeaders()
        package internal(set) var responseBody = Content()
        /// The fault that was applied.
        package internal(set) var fault: String?
        package internal(set) var ended: ContinuousClock.Instant?
        package internal(set) var notes: [any Sendable] = []
    }

    package static let bodyLimit = 64 << 10
    private static let mostNotes = 50

    /// Given by the observer, from 1.
    package let number: Int
    package let head: RequestHead
    package let connection: Int
    package let began = ContinuousClock.now
    private let mutable = Mutex(State())
    private let changed: @Sendable (ExchangeRecord) -> Void

    /// - Parameter changed: Called when the answer begins and ends, on any thread; must not wait.
    package init(
        number: Int, _ request: ServerRequest, changed: @escaping @Sendable (ExchangeRecord) -> Void
    ) {
        self.number = number
        head = request.head
        connection = request.connection
        self.changed = changed
    }

    /// Of no request, for what the services say.
    package init() {
        number = 0
        head = RequestHead(method: .get, target: "/", headers: [:], minorVersion: 1)
        connection = 0
        changed = { _ in }
    }

    package var state: State { mutable.withLock { $0 } }

    /// What the services said about this exchange, such as a decision about access.
    package func note(_ note: any Sendable) {
        mutable.withLock { state in
            if state.notes.count < Self.mostNotes { state.notes.append(note) }
        }
    }

    /// How many bytes are kept of both bodies.
    package var keptBytes: Int {
        mutable.withLock { $0.requestBody.bytes.count + $0.responseBody.bytes.count }
    }

    /// Forgets the bodies, when others need the memory.
    package func dropBodies() {
        mutable.withLock { state in
            state.requestBody.drop()
            state.responseBody.drop()
        }
    }

    /// Puts what is short in the place of what the services said.
    package func replaceNotes(by notes: [any Sendable]) { mutable.withLock { $0.notes = notes } }

    // MARK: What the server reports

    func received(_ piece: UnsafeRawBufferPointer) { mutable.withLock { $0.requestBody.append(piece) } }

    func applies(_ fault: Fault) { mutable.withLock { $0.fault = fault.name } }

    func answers(_ status: Int, _ headers: HTTPHeaders) {
        mutable.withLock { state in
            state.status = status
            state.responseHeaders = headers
            state.phase = .answering
        }
        changed(self)
    }

    func sent(_ bytes: [UInt8]) {
        mutable.withLock { state in bytes.withUnsafeBytes { state.responseBody.append($0) } }
    }

    /// The exchange is over: completely answered, or not. Only the first end counts.
    func ends(isComplete: Bool) {
        let isFirst = mutable.withLock { state in
            guard state.ended == nil else { return false }
            state.ended = .now
            state.phase = isComplete ? .done : .abandoned
            return true
        }
        if isFirst { changed(self) }
    }
}

extension Fault {
    /// As in a rule.
    fileprivate var name: String {
        switch self {
        case .answer: "answer"
        case .replaceAnswer: "replace"
        case .dropAnswer: "drop"
        case .cutAnswer: "cut"
        case .paceAnswer: "pace"
        case .delayAnswer: "delay"
        case .holdRequest: "holdRequest"
        case .holdAnswer: "holdAnswer"
        }
    }
}
