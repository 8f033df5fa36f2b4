/// What a move will do, what it costs, and what cannot come along. Print it, or store it as JSON.
public struct MovePlan: Sendable, Hashable, Codable {
    /// A collection: the documents of all collections of this name.
    public struct Collection: Sendable, Hashable, Codable {
        public var name: String
        public var documents: Int
        /// Estimated from those that were read.
        public var bytes: Int
        /// How many documents were read for the plan.
        public var sampled: Int
    }

    public struct Accounts: Sendable, Hashable, Codable {
        public var count = 0
        /// Accounts whose password is known by a hash that the target accepts.
        public var withPassword = 0
        /// Accounts that sign in with a password and need a new one.
        public var needingNewPassword = 0
        public var anonymous = 0
        /// Accounts whose ID the target does not accept, so that they get another one.
        public var withOtherID = 0
        /// Accounts with a second factor, which cannot come.
        public var withSecondFactor = 0
    }

    public struct Files: Sendable, Hashable, Codable {
        public var count = 0
        public var bytes: Int64 = 0
    }

    public internal(set) var from: String
    public internal(set) var to: String
    public internal(set) var collections: [Collection] = []
    /// `nil` if accounts do not take part.
    public internal(set) var accounts: Accounts?
    /// `nil` if files do not take part.
    public internal(set) var files: Files?
    /// The first values that the target cannot hold as they are.
    public internal(set) var problems: [ValueProblem] = []
    /// What does not take part or is lost, and what to do by hand, as sentences.
    public internal(set) var remarks: [String] = []

    public var documents: Int { collections.reduce(0) { $0 + $1.documents } }
    public var bytes: Int { collections.reduce(0) { $0 + $1.bytes } }
    /// Whether every document was read for the plan.
    public var isThorough: Bool { collections.allSatisfy { $0.sampled >= $0.documents } }

    /// Documents a second, and bytes of files a second, on which ``minutes(documentsPerSecond:)`` is based. Measure your own
    /// backends with a part of the data.
    public static let assumedRate = (documents: 1000.0, bytes: 20e6)

    /// - Parameter documentsPerSecond: The limit of a throttle.
    public func minutes(documentsPerSecond: Int? = nil) -> Double {
        let rate = min(Self.assumedRate.documents, documentsPerSecond.map(Double.init) ?? .infinity)
        let work = Double(documents + (accounts?.count ?? 0)) / rate
        return (work + Double(files?.bytes ?? 0) / Self.assumedRate.bytes) / 60
    }

    /// How many documents one page has, so that pages in memory stay small.
    func pageSize(of collection: Collection, atMost limit: Int) -> Int {
        guard collection.documents > 0 else { return limit }
        return min(max(1, limit), max(4, (4 << 20) / max(1, collection.bytes / collection.documents)))
    }
}

extension MovePlan: CustomStringConvertible {
    public var description: String {
        var lines = ["Move from \(from) to \(to)", ""]
        for collection in collections {
            lines.append(
                "  \(collection.name): \(Shown.count(collection.documents, "document")), about \(Shown.bytes(Int64(collection.bytes)))"
            )
        }
        if let accounts { lines.append("  " + accounts.description) }
        if let files { lines.append("  \(Shown.count(files.count, "file")), \(Shown.bytes(files.bytes))") }
        lines += [
            "", "Reads: \(documents) documents. Writes: \(documents) documents. Verifying reads both ends once more.",
            "Time: about \(Shown.minutes(minutes())) at \(Int(Self.assumedRate.documents)) documents and "
                + "\(Shown.bytes(Int64(Self.assumedRate.bytes))) a second.",
        ]
        if !problems.isEmpty {
            lines += ["", "Values that \(to) cannot hold as they are:"]
            lines += problems.map { "  \($0.path)\($0.field.map { ", field “\($0)”" } ?? ""): \($0.reason)" }
        }
        if !remarks.isEmpty { lines += ["", "Before you begin:"] + remarks.map { "  • \($0)" } }
        return lines.joined(separator: "\n")
    }
}

extension MovePlan.Accounts: CustomStringConvertible {
    public var description: String {
        var parts = ["\(withPassword) with their password", "\(needingNewPassword) need a new password"]
        if anonymous > 0 { parts.append("\(anonymous) anonymous") }
        if withOtherID > 0 { parts.append("\(withOtherID) get another ID") }
        if withSecondFactor > 0 { parts.append("\(withSecondFactor) lose their second factor") }
        return "\(Shown.count(count, "account")): \(parts.joined(separator: ", "))"
    }
}
