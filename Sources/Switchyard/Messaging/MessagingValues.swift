public import Foundation

public enum MessagingPermission: String, Sendable, Hashable {
    /// The user has not been asked yet.
    case undetermined
    case granted, denied

    /// - Throws: `.permissionDenied` if the user wants no messages: then nothing registers.
    package func check() throws(MessagingError) {
        guard self == .denied else { return }
        throw MessagingError(
            .permissionDenied,
            "The user has denied the permission to show messages. Once it is given in the platform's settings, record it with "
                + "requestPermission(_:).")
    }
}

/// The name under which a server reaches this installation.
public struct MessagingToken: Sendable, Hashable {
    public let value: Secret
    public init(_ value: Secret) { self.value = value }
}

/// The push token that the platform gave the app. The app passes it on.
public struct PlatformPushToken: Sendable, Hashable {
    /// The push service that issued it. A module with its own push service adds a name in an extension.
    public struct Service: RawRepresentable, Sendable, Hashable, Codable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let apns = Service(rawValue: "apns")
        public static let apnsSandbox = Service(rawValue: "apnsSandbox")
        public static let webPush = Service(rawValue: "webPush")
    }

    public let service: Service
    public let token: Secret

    public init(_ service: Service, token: Secret) {
        self.service = service
        self.token = token
    }

    /// Apple's token is bytes; servers expect them in hexadecimal.
    public init(apns bytes: Data, isSandbox: Bool = false) {
        let digits = Array("0123456789abcdef")
        let text = String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
        self.init(isSandbox ? .apnsSandbox : .apns, token: Secret(text))
    }
}

/// The name of a group of installations that get the same messages.
public struct MessagingTopic: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    public let rawValue: String

    /// - Parameter text: The prefix `/topics/`, which some write before the name, is dropped.
    /// - Throws: `.invalidArgument` unless the name has 1 to 900 of the characters `A–Z a–z 0–9 - _ . ~ %`.
    public init(validating text: String) throws(MessagingError) {
        let prefix = "/topics/"
        let text = text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
        let isLegal = text.utf8.allSatisfy { byte in
            (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
                || "-_.~%".utf8.contains(byte)
        }
        guard isLegal, (1...900).contains(text.utf8.count) else {
            throw MessagingError(.invalidArgument, "A topic has 1 to 900 letters, digits, or - _ . ~ %.")
        }
        rawValue = text
    }

    /// Traps on an invalid literal. For text that is not a literal use ``init(validating:)``.
    public init(stringLiteral value: String) {
        do throws(MessagingError) {
            try self.init(validating: value)
        } catch {
            preconditionFailure("“\(value)” is not a topic: \(error.message)")
        }
    }

    public var description: String { rawValue }
}

/// A message that arrived.
public struct RemoteMessage: Sendable, Hashable, Identifiable {
    /// The server's name for it; the same message never comes twice on one stream.
    public let id: String
    public let title: String?
    public let body: String?
    /// The app's own data.
    public let data: [String: String]
    public let topic: MessagingTopic?
    public let sentAt: Timestamp?
    /// Whether the user opened the app by tapping on it.
    public let wasOpened: Bool

    public init(
        id: String, title: String? = nil, body: String? = nil, data: [String: String] = [:],
        topic: MessagingTopic? = nil,
        sentAt: Timestamp? = nil, wasOpened: Bool = false
    ) {
        self.id = id
        self.title = title
        self.body = body
        self.data = data
        self.topic = topic
        self.sentAt = sentAt
        self.wasOpened = wasOpened
    }
}

extension RemoteMessage: CustomStringConvertible {
    /// The ID only, to keep contents out of logs.
    public var description: String { "RemoteMessage(\(id))" }
}

/// The payload of a push message from the platform: its dictionary, as JSON.
public struct RemotePayload: Sendable, Hashable {
    public let json: Data
    public let wasOpened: Bool

    public init(json: Data, wasOpened: Bool = false) {
        self.json = json
        self.wasOpened = wasOpened
    }
}
