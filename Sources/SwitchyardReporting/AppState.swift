import Switchyard
import SwitchyardBytes

/// What an app's clients are doing, as a page shows it. Has paths and messages in it, never contents of documents or files.
///
/// Each list has a bound, so that an app that runs for days does not grow.
struct AppState {
    /// The provider of each service that has one.
    private var providers: [InfrastructureService: InfrastructureProvider] = [:]
    private var streams: [Int: Stream] = [:]
    private var transfers: [Int: Transfer] = [:]
    private var pending: [PendingWrite] = []
    private var refused: [RefusedWrite] = []
    private var errors: [JSON] = []
    private var moves: [(name: String, text: String, at: Timestamp)] = []

    fileprivate struct Stream {
        let service: InfrastructureService
        let operation: String
        let target: String?
        var state: String
        var since: Timestamp
        var documents: Int?
        var error: String?
    }

    fileprivate struct Transfer {
        let path: String
        let isUpload: Bool
        var progress: TransferProgress?
        var end: String?
        var error: String?
    }

    private static let bound = 200
    private static let few = 50

    // MARK: What happens

    /// - Returns: Whether it has changed.
    mutating func note(_ selection: InfrastructureSelection, at now: Timestamp) -> Bool {
        var next: [InfrastructureService: InfrastructureProvider] = [:]
        for service in InfrastructureService.allCases { next[service] = selection.provider(for: service) }
        guard next != providers else { return false }
        for service in InfrastructureService.core where !providers.isEmpty && providers[service] != next[service] {
            let (from, to) = (providers[service]?.rawValue ?? "nothing", next[service]?.rawValue ?? "nothing")
            add(move: service.rawValue, "switched from \(from) to \(to)", at: now)
        }
        providers = next
        return true
    }

    mutating func note(_ event: InfrastructureEvent, at now: Timestamp) {
        switch event.kind {
        case .call(let operation, _, let failure?) where failure.isWorthShowing:
            add(error: failure.message, event, operation, at: now)
        case .streamClosed(let operation, let failure?) where failure.isWorthShowing:
            add(error: failure.message, event, operation, at: now)
        case .writeRefused(let paths, let failure):
            add(error: failure.message, event, "write", target: paths.first, at: now)
        case .tokenRefreshed(let failure?): add(error: failure.message, event, "refresh token", at: now)
        case .pendingWrites(_, let failure?): add(error: failure.message, event, "send writes", at: now)
        case .readFromCache(let failure): add(error: failure.message, event, "read", at: now)
        case .reconnect(let operation, _, let failure?): add(error: failure.message, event, operation, at: now)
        case .notice(let text): add(error: text, event, "notice", at: now)
        default: break
        }
    }

    mutating func note(_ activity: ClientActivity, at now: Timestamp) {
        switch activity.kind {
        case .streamOpened:
            guard streams.count < Self.bound else { return }
            streams[activity.number] = Stream(
                service: activity.service, operation: activity.operation, target: activity.target, state: "waiting",
                since: now)
        case .streamDelivered(let documents, let isFromCache):
            guard var stream = streams[activity.number] else { return }
            let state = isFromCache ? "cached" : "live"
            if stream.state != state { (stream.state, stream.since) = (state, now) }
            stream.documents = documents
            streams[activity.number] = stream
        case .streamEnded(let failure?) where failure.isWorthShowing:
            guard var stream = streams[activity.number] else { return }
            (stream.state, stream.since, stream.error) = ("failed", now, failure.message)
            streams[activity.number] = stream
            drop(all: streams.filter { $0.value.state == "failed" }.map(\.key), from: \.streams)
        case .streamEnded: streams[activity.number] = nil
        case .transferMoved(let progress):
            let transfer = Transfer(path: activity.target ?? "", isUpload: activity.operation != "download")
            transfers[activity.number, default: transfer].progress = progress
        case .transferEnded(let failure):
            guard var transfer = transfers[activity.number] else { return }
            transfer.end = failure == nil ? "finished" : failure?.code == .cancelled ? "cancelled" : "failed"
            transfer.error = failure?.message
            transfers[activity.number] = transfer
            drop(all: transfers.filter { $0.value.end != nil }.map(\.key), from: \.transfers)
        case .moveChanged(let name, let text): add(move: name, text, at: now)
        }
    }

    mutating func note(pending: [PendingWrite]) { self.pending = pending }
    mutating func note(refused: [RefusedWrite]) { self.refused = refused }

    /// Keeps the latest of what is over.
    private mutating func drop<Value>(all numbers: [Int], from list: WritableKeyPath<AppState, [Int: Value]>) {
        for number in numbers.sorted().dropLast(Self.few) { self[keyPath: list][number] = nil }
    }

    private mutating func add(
        error message: String, _ event: InfrastructureEvent, _ operation: String, target: String? = nil,
        at now: Timestamp
    ) {
        errors.append([
            "at": .string("\(now)"), "service": .string(event.service.rawValue),
            "operation": .string("\(event.service.rawValue) \(operation)"),
            "target": (target ?? event.target).map { .string($0) } ?? .null, "message": .string(message),
        ])
        if errors.count > Self.few { errors.removeFirst() }
    }

    /// One entry a name: what it did last.
    private mutating func add(move name: String, _ text: String, at now: Timestamp) {
        moves.removeAll { $0.name == name }
        moves.append((name, text, now))
        if moves.count > Self.few { moves.removeFirst() }
    }

    // MARK: As it is sent

    var json: JSON {
        [
            "services": .array(InfrastructureService.allCases.compactMap(service)),
            "live": .array(streams.sorted { $0.key < $1.key }.map(\.value).filter(\.isShown).map(\.json)),
            "writes": .array(refusedLines + pendingLines),
            "transfers": .array(transfers.sorted { $0.key < $1.key }.map(\.value.json)),
            "errors": .array(errors.reversed()),
            "moves": .array(
                moves.reversed().map {
                    ["name": .string($0.name), "state": .string($0.text), "at": .string("\($0.at)")]
                }),
        ]
    }

    private func service(_ service: InfrastructureService) -> JSON? {
        providers[service].map { ["service": .string(service.rawValue), "provider": .string($0.rawValue)] }
    }

    private var refusedLines: [JSON] {
        refused.prefix(Self.bound).flatMap {
            Self.lines($0.batch, $0.id, "refused", since: $0.refusedAt, reason: $0.error.message)
        }
    }

    private var pendingLines: [JSON] {
        pending.prefix(Self.bound).flatMap {
            Self.lines(
                $0.batch, $0.id, $0.isBeingSent ? "sending" : "waiting", since: $0.queuedAt,
                reason: $0.lastError?.message)
        }
    }

    private static func lines(
        _ batch: WriteBatch, _ id: String, _ state: String, since: Timestamp, reason: String?
    ) -> [JSON] {
        batch.writes.prefix(bound).map { write in
            [
                "id": .string(id), "path": .string(write.path.rawValue), "kind": .string(write.kindName),
                "state": .string(state), "since": .string("\(since)"), "reason": .optional(reason),
            ]
        }
    }
}

extension AppState.Stream {
    /// The streams of the session and of the queue belong to every app, and say nothing about this one.
    fileprivate var isShown: Bool {
        switch service {
        case .auth: false
        case .storage: target != nil
        default: true
        }
    }

    fileprivate var json: JSON {
        [
            "target": .string(target ?? operation), "service": .string(service.rawValue), "state": .string(state),
            "since": .string("\(since)"), "documents": documents.map { .integer(Int64($0)) } ?? .null,
            "error": .optional(error),
        ]
    }
}

extension AppState.Transfer {
    fileprivate var json: JSON {
        let phase = progress.map { "\($0.phase)" }
        return [
            "path": .string(path), "direction": .string(isUpload ? "upload" : "download"),
            "done": .integer(progress?.completedBytes ?? 0),
            "total": (progress?.totalBytes).map { .integer($0) } ?? .null, "state": .string(end ?? phase ?? "waiting"),
            "error": .optional(error),
        ]
    }
}

extension JSON {
    fileprivate static func optional(_ text: String?) -> JSON { text.map { .string($0) } ?? .null }
}

extension PendingWrite {
    /// No next attempt is planned, and none has failed since.
    fileprivate var isBeingSent: Bool { nextAttempt == nil && lastError == nil && attempts > 0 }
}

extension DocumentWrite {
    fileprivate var kindName: String {
        switch operation {
        case .set: "set"
        case .patch: "update"
        case .delete: "delete"
        case .verify: "check"
        }
    }
}

extension InfrastructureEvent.Failure {
    /// The program intended the others: it gave up waiting, or shut the client down.
    fileprivate var isWorthShowing: Bool { code != .cancelled && code != .shutDown }
}
