import SwitchyardBytes

/// How often a failed call is repeated, and with which pauses.
///
/// Pauses grow by half each time, vary randomly by up to half so that many clients do not stay in step, and are never shorter
/// than the server asks for. If a server asks for more than ``maximumPause``, the call fails at once, with the time to wait
/// in its error.
public struct RetryPolicy: Sendable, Hashable {
    /// How many attempts a call gets in all. 1 means no retry.
    public var maximumAttempts: Int
    /// The pause after the first failure, counted from the start of the call.
    public var initialPause: Duration
    /// The longest pause before jitter, and the longest that a server may ask for.
    public var maximumPause: Duration

    public init(
        maximumAttempts: Int = 4, initialPause: Duration = .milliseconds(200), maximumPause: Duration = .seconds(20)
    ) {
        self.maximumAttempts = max(1, maximumAttempts)
        self.initialPause = initialPause
        self.maximumPause = maximumPause
    }

    /// Four attempts within a few seconds.
    public static let standard = RetryPolicy()
}

extension RetryPolicy: Codable {
    private enum CodingKeys: String, CodingKey { case maximumAttempts, initialPause, maximumPause }

    /// Pauses in seconds; missing values are as in ``standard``.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        func pause(_ key: CodingKeys, _ standard: Duration) throws -> Duration {
            guard let seconds = try values.decodeIfPresent(Double.self, forKey: key) else { return standard }
            guard (0...3600).contains(seconds) else {
                throw DecodingError.dataCorruptedError(
                    forKey: key, in: values, debugDescription: "a pause of 0 to 3600 seconds")
            }
            return .seconds(seconds)
        }
        self = .standard
        if let attempts = try values.decodeIfPresent(Int.self, forKey: .maximumAttempts) {
            guard (1...100).contains(attempts) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .maximumAttempts, in: values, debugDescription: "1 to 100 attempts")
            }
            maximumAttempts = attempts
        }
        initialPause = try pause(.initialPause, initialPause)
        maximumPause = try pause(.maximumPause, maximumPause)
    }

    public func encode(to encoder: any Encoder) throws { try shape.encode(to: encoder) }

    var shape: JSON {
        [
            "maximumAttempts": .integer(Int64(maximumAttempts)), "initialPause": .number(initialPause / .seconds(1)),
            "maximumPause": .number(maximumPause / .seconds(1)),
        ]
    }
}

/// The pauses between the attempts at one call, on any clock.
struct RetryPauses {
    private var backoff: Backoff
    private let watch: CallTimer

    /// - Parameter watch: Started with the first attempt.
    init(initial: Duration, maximum: Duration, since watch: CallTimer) {
        self.watch = watch
        backoff = Backoff(.init(initial: initial, maximum: maximum, isFirstImmediate: false), now: watch.start)
    }

    mutating func next(atLeast minimum: Duration? = nil) -> Duration {
        var generator = SystemRandomNumberGenerator()
        return backoff.next(now: watch.now, atLeast: minimum, using: &generator)
    }
}
