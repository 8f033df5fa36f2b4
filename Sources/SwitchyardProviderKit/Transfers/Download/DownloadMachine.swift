package import Switchyard
import SwitchyardBytes

/// Decides how a download continues: from where after a lost connection, and whether the bytes are still of the same file.
/// Pure: events go in, the next action comes out.
package struct DownloadMachine: Sendable {
    package enum Event: Sendable {
        case opened(DownloadHead)
        case ended
        case failed(FileStorageError)
        case waited
    }

    package enum Action: Sendable {
        case open(DownloadRequest)
        case read
        case wait(Duration)
        case finish
        case fail(FileStorageError)
    }

    private let policy: TransferPolicy
    private let start: Int64
    private let wantedEnd: Int64?
    /// The offset of the next byte to deliver.
    package private(set) var position: Int64
    /// The offset of the next byte to arrive.
    private var arriving: Int64 = 0
    package private(set) var head: DownloadHead?
    private var version: String?
    private var backoff: Backoff
    private var lastProgress: ContinuousClock.Instant

    /// - Parameters:
    ///   - range: Not empty.
    ///   - version: The version to download; by default, the current one when the first bytes arrive.
    package init(
        _ policy: TransferPolicy, range: Range<Int64>?, version: String? = nil, now: ContinuousClock.Instant
    ) {
        self.policy = policy
        self.version = version
        start = range?.lowerBound ?? 0
        wantedEnd = range?.upperBound
        position = start
        backoff = Backoff(policy.backoff, now: now)
        lastProgress = now
    }

    package var begin: Action { .open(DownloadRequest(offset: position, end: wantedEnd, version: version)) }

    /// The total number of bytes, once known.
    package var expectedCount: Int64? { expectedEnd.map { $0 - start } }

    private var expectedEnd: Int64? {
        guard let total = head?.total else { return nil }
        return min(wantedEnd ?? total, total)
    }

    /// Whether the whole file is requested, so that its checksums apply.
    package var isWhole: Bool { start == 0 && (wantedEnd == nil || head?.total.map { $0 <= wantedEnd ?? $0 } ?? false) }

    /// The consumer asks for more: time without a request does not count.
    package mutating func asked(now: ContinuousClock.Instant) { lastProgress = now }

    /// - Returns: The range of the `count` arrived bytes to deliver.
    package mutating func received(_ count: Int, now: ContinuousClock.Instant) -> Range<Int> {
        let pieceEnd = arriving + Int64(count)
        let first = min(max(position, arriving), pieceEnd)
        let last = min(max(wantedEnd ?? pieceEnd, first), pieceEnd)
        let range = Int(first - arriving)..<Int(last - arriving)
        arriving = pieceEnd
        if !range.isEmpty {
            position = last
            lastProgress = now
            backoff.reset()
        }
        return range
    }

    package mutating func handle(
        _ event: Event, now: ContinuousClock.Instant, using generator: inout some RandomNumberGenerator
    ) -> Action {
        switch event {
        case .opened(let new): return opened(new)
        case .ended:
            guard let end = expectedEnd, position < end else { return .finish }
            return retry(
                FileStorageError(.unavailable, "The download ended before the file was complete. Download it again."),
                now, &generator)
        case .failed(let error):
            return error.isRetryable ? retry(error, now, &generator) : .fail(error)
        case .waited: return begin
        }
    }

    private mutating func opened(_ new: DownloadHead) -> Action {
        if let version, let other = new.version, other != version {
            return .fail(FileStorageError(.changed, "The file was replaced while it was being read."))
        }
        guard new.start <= position else {
            return .fail(
                FileStorageError(
                    .unknown, "The server left out part of the file. Download it again.", isRetryable: false))
        }
        let new = new.completed(by: head)
        if let total = new.total, position >= total, position > 0 {
            guard position > start, position == total else { return .fail(.rangeOutside) }
            head = new
            return .finish
        }
        head = new
        version = version ?? new.version
        arriving = new.start
        return .read
    }

    /// Whether the consumer has everything it requested.
    package var isComplete: Bool { expectedEnd.map { position >= $0 } ?? (wantedEnd.map { position >= $0 } ?? false) }

    private mutating func retry(
        _ error: FileStorageError, _ now: ContinuousClock.Instant, _ generator: inout some RandomNumberGenerator
    ) -> Action {
        guard now - lastProgress + (error.retryAfter ?? .zero) < policy.patience else { return .fail(error) }
        return .wait(backoff.next(now: now, atLeast: error.retryAfter, using: &generator))
    }
}

extension FileStorageError {
    package static let rangeOutside = FileStorageError(.rangeNotSatisfiable, "The range lies outside the file.")
}
