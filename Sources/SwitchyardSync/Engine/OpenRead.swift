import Switchyard

/// What a single read asks the server for.
enum ReadRequest: Equatable {
    case documents([StoragePath])
    case results(Query)

    func covers(_ path: StoragePath) -> Bool {
        switch self {
        case .documents(let paths): paths.contains(path)
        case .results(let query): QueryEvaluator(query).isInSource(path)
        }
    }
}

/// A read that waits for the server's answer, and the writes of this device that the server accepts meanwhile: they are not
/// pending any more, and the answer may be older than they are.
///
/// Times cannot tell: Firestore's emulator may date an answer later than a write that is not in it.
struct OpenRead {
    private struct AcceptedWrite {
        let version: Timestamp
        let isDeletion: Bool
    }

    let request: ReadRequest
    private var accepted: [StoragePath: AcceptedWrite] = [:]

    init(_ request: ReadRequest) { self.request = request }

    mutating func note(_ batch: OutgoingBatch, _ result: CommitResult) {
        for (index, write) in batch.writes.enumerated() where write.operation != .verify {
            let path = result.added ?? write.path
            guard request.covers(path) else { continue }
            accepted[path] = AcceptedWrite(
                version: result.version(ofWrite: index), isDeletion: result.leavesNothing(write, at: index))
        }
    }

    /// Whether the answer shows every accepted write. `false` leaves it open: a document may just not match the query any more.
    func isSettled(by answer: FetchedDocuments) -> Bool {
        guard !accepted.isEmpty else { return true }
        var unseen = accepted
        for document in answer.documents where document.exists {
            guard let write = unseen.removeValue(forKey: document.path) else { continue }
            if document.updateTime ?? answer.readTime < write.version { return false }
        }
        return unseen.values.allSatisfy(\.isDeletion)
    }
}

extension CommitResult {
    /// Whether the document is missing after the write.
    fileprivate func leavesNothing(_ write: DocumentWrite, at index: Int) -> Bool {
        switch outcome(ofWrite: index) {
        case .asSent, .unknown: write.operation == .delete
        case .returned(let document, _): !document.exists
        }
    }
}
