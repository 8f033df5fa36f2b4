/// The result of a switch, at the moment when the new clients came into use.
///
/// ```swift
/// let report = try await backend.use(.globex, for: .storage)
/// print(report)                       // storage: acme → globex; 1 write left on acme (kept on disk)
/// await report.drained()              // the old client has been shut down
/// ```
public struct SwitchReport: Sendable {
    public struct Move: Sendable, Hashable {
        public let service: InfrastructureService
        public let from: InfrastructureProvider?
        public let to: InfrastructureProvider?
        /// Whether it is a domain client that follows its storage, as all do that are not pinned.
        public let followsStorage: Bool
    }

    /// Writes in the queue of a storage that is no longer in use.
    public struct LeftWrites: Sendable, Hashable {
        public let provider: InfrastructureProvider
        public let count: Int
        /// Whether they are saved in the provider's folder, outlast the process and are sent when the provider is chosen
        /// again. Those in memory are sent for as long as the ``Infrastructure`` lives, and are lost with it.
        public let isOnDisk: Bool
    }

    /// The end of the old clients.
    public struct Drained: Sendable, Hashable {
        /// The number of calls cut off because they had not ended by the deadline.
        public let abandonedCalls: Int
        /// The writes that were still queued at the end.
        public let leftWrites: [LeftWrites]
    }

    /// The clients whose provider has changed, including those that follow the storage.
    public let moves: [Move]
    /// The writes still queued on the old storages, which continue to send them; see ``drained()``.
    public let leftWrites: [LeftWrites]
    /// How long the switch took.
    public let duration: Duration
    private let draining: Task<Drained, Never>

    init(moves: [Move], leftWrites: [LeftWrites], duration: Duration, draining: Task<Drained, Never>) {
        self.moves = moves
        self.leftWrites = leftWrites
        self.duration = duration
        self.draining = draining
    }

    /// Waits until the old clients are shut down: their calls have ended and their queues are empty, or
    /// ``InfrastructureOptions/drainDeadline`` has passed.
    @discardableResult
    public func drained() async -> Drained { await draining.value }
}

extension SwitchReport {
    static func moves(from old: InfrastructureSelection, to new: InfrastructureSelection) -> [Move] {
        InfrastructureService.allCases.compactMap { service in
            let (from, to) = (old.provider(for: service), new.provider(for: service))
            guard from != to else { return nil }
            let follows = !service.isCore && old[service] == nil && new[service] == nil
            return Move(service: service, from: from, to: to, followsStorage: follows)
        }
    }
}

extension SwitchReport: CustomStringConvertible {
    /// Leaves out domain clients that just follow the storage.
    public var description: String {
        guard !moves.isEmpty else { return "nothing moved" }
        return (moves.filter { !$0.followsStorage }.map(\.description) + leftWrites.map(\.description)).joined(
            separator: "; ")
    }
}

extension SwitchReport.Move: CustomStringConvertible {
    public var description: String {
        "\(service): \(from.map { "\($0)" } ?? "no provider") → \(to.map { "\($0)" } ?? "no provider")"
    }
}

extension SwitchReport.Drained: CustomStringConvertible {
    public var description: String {
        var parts = leftWrites.map(\.description)
        if abandonedCalls > 0 { parts.append("\(abandonedCalls) call\(abandonedCalls == 1 ? "" : "s") cut off") }
        return parts.isEmpty ? "nothing left" : parts.joined(separator: "; ")
    }
}

extension SwitchReport.LeftWrites: CustomStringConvertible {
    public var description: String {
        "\(count) write\(count == 1 ? "" : "s") left on \(provider) (\(isOnDisk ? "kept on disk" : "kept in memory"))"
    }
}
