import Switchyard
import SwitchyardBytes
import SwitchyardFirestoreFormat
import SwitchyardSync

/// The stream of changes of one client, with all its targets in one channel.
final class FirestoreWatch: WatchConnection {
    private let database: FirestoreDatabase
    private let channel: WebChannel
    private let requests: StreamBuffer<JSON, Never>
    private let sender: Task<Void, Never>
    private let refusal: StreamRefusal

    init(_ database: FirestoreDatabase, _ channel: WebChannel, _ refusal: StreamRefusal) {
        self.database = database
        self.channel = channel
        self.refusal = refusal
        let requests = StreamBuffer<JSON, Never>(.all)
        self.requests = requests
        // Requests come from code that must not wait; one task sends them in order.
        sender = Task {
            while let request = await requests.next() { await channel.send(request) }
        }
    }

    deinit { close() }

    func send(_ request: WatchRequest) {
        switch request {
        case .remove(let id): requests.yield(FirestoreListenRequest.remove(id: id).firestore(in: database))
        case .add(let target): requests.yield(FirestoreListenRequest(target).firestore(in: database))
        }
    }

    func next() async throws(StorageError) -> WatchEvent? {
        do throws(WebChannel.WebChannelEnd) {
            while let message = try await channel.next() {
                if let event = try? WatchEvent(message, in: database) { return event }
                throw WebChannel.WebChannelEnd(reason: .broken("a message that could not be read"))
            }
            return nil
        } catch {
            switch error.reason {
            case .byClient: return nil
            default:
                let failure = error.reason.asFailure
                if failure.status == .unauthenticated { refusal.note() }
                throw StorageError(failure)
            }
        }
    }

    func close() {
        sender.cancel()
        requests.finish(.success(()))
        let channel = channel
        Task { await channel.close() }
    }
}

extension FirestoreListenRequest {
    fileprivate init(_ watched: TargetRequest) {
        let target: Target =
            switch watched.target {
            case .document(let path): .document(path)
            case .query(let query): .query(query)
            }
        let resumption: Resumption? =
            watched.resumeToken.isEmpty ? watched.readTime.map { .readTime($0) } : .token(watched.resumeToken)
        let purpose: Purpose? =
            switch watched.purpose {
            case .listen: nil
            case .existenceFilterMismatch: .existenceFilterMismatch
            case .existenceFilterMismatchBloom: .existenceFilterMismatchBloom
            case .limboResolution: .limboDocument
            }
        self = .add(
            target, id: watched.id, from: resumption, expectedCount: watched.expectedCount, purpose: purpose)
    }
}

extension WatchEvent {
    init(_ message: JSON, in database: FirestoreDatabase) throws(FirestoreFormatError) {
        switch try FirestoreListenResponse(firestore: message, in: database) {
        case .documentChange(let document, let targets, let removed):
            self = .changed(document, targets: targets, removedFrom: removed)
        case .documentDelete(let path, let readTime, let removed):
            self = .deleted(path, version: readTime ?? .never, removedFrom: removed)
        case .documentRemove(let path, _, let removed): self = .left(path, removedFrom: removed)
        case .existenceFilter(let filter):
            self = .filter(
                target: filter.targetID, count: filter.count,
                unchanged: filter.unchangedNames.flatMap {
                    BloomFilter(
                        bitmap: $0.bitmap, padding: $0.padding, hashCount: $0.hashCount, prefix: database.root + "/")
                })
        case .targetChange(let change):
            switch change.kind {
            case .add: self = .added(change.targetIDs, token: change.resumeToken)
            case .remove: self = .removed(change.targetIDs, cause: change.cause.map { StorageError($0) })
            case .current: self = .current(change.targetIDs, token: change.resumeToken)
            case .reset: self = .reset(change.targetIDs, token: change.resumeToken)
            case .noChange:
                // Only a message about all targets, with a time, marks a consistent snapshot.
                if change.targetIDs.isEmpty, let version = change.readTime {
                    self = .snapshot(version: version, token: change.resumeToken)
                } else {
                    self = .token(change.targetIDs, token: change.resumeToken)
                }
            }
        }
    }
}
