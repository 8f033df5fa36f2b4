/// Which of a channel's numbered messages have arrived.
struct MessageNumbers: Equatable {
    /// All messages up to this number have arrived, or were sent before anybody listened; `nil` until the database has said what
    /// the newest one is.
    private(set) var through: Int64?
    /// Later ones that have arrived.
    private var ahead: Set<Int64> = []

    /// Whether a message is missing before one that has arrived.
    var hasHole: Bool { through != nil && !ahead.isEmpty }

    mutating func arrived(_ number: Int64) {
        if let through, number <= through { return }
        ahead.insert(number)
        close()
    }

    /// - Parameter number: All messages up to this one have arrived now, or are gone. A lower one than known means that the
    ///   channel was made anew.
    mutating func settled(through number: Int64, newest: Int64) {
        if let through, newest < through { ahead = [] } else if let through, number < through { return }
        through = number
        ahead = ahead.filter { $0 > number }
        close()
    }

    private mutating func close() {
        while let next = through.map({ $0 + 1 }), ahead.remove(next) != nil { through = next }
    }
}
