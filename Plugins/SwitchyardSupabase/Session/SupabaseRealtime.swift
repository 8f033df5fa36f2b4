import Switchyard
import SwitchyardProviderKit

/// How the project's realtime service is reached. It prompts live queries to check for changes, and delivers messages.
///
/// In a configuration file, with the interval as a number of seconds:
///
/// ```json
/// { "realtime": { "mode": "longPolling", "heartbeatSeconds": 20 } }
/// ```
public struct SupabaseRealtime: Sendable, Hashable {
    public enum Mode: String, Sendable, Hashable, Codable, CaseIterable {
        /// By web socket, and by long polling if the network blocks web sockets.
        case automatic
        /// Always by long polling, for which the hosted service gives no guarantee.
        case longPolling
        /// Not at all. Live queries check every ``SupabaseConfiguration/checkInterval``, and there are no messages.
        case off
    }

    public var mode: Mode
    /// The interval of heartbeats, from 1 to 25 seconds. A connection without an answer is given up after two intervals, and a
    /// renewed token is sent within one.
    public var heartbeat: Duration

    static let usualHeartbeat = Duration.seconds(25)

    public init(mode: Mode = .automatic, heartbeat: Duration = .seconds(25)) {
        self.mode = mode
        self.heartbeat = heartbeat
    }

    func validate() throws(InfrastructureError) {
        guard (.seconds(1) ... .seconds(25)).contains(heartbeat) else {
            throw InfrastructureError(
                .invalidConfiguration, "Supabase's heartbeat must be between one second and 25.")
        }
    }
}

extension SupabaseRealtime: Codable {
    private enum CodingKeys: String, CodingKey { case mode, heartbeatSeconds }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(mode: try values.decodeIfPresent(Mode.self, forKey: .mode) ?? .automatic)
        if let seconds = try values.decodeIfPresent(Double.self, forKey: .heartbeatSeconds) {
            heartbeat = try .settings(seconds: seconds, in: 1...25, forKey: .heartbeatSeconds, of: values)
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(mode, forKey: .mode)
        try values.encode(heartbeat / .milliseconds(1) / 1000, forKey: .heartbeatSeconds)
    }
}
