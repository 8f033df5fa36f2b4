public import Foundation
public import Switchyard

/// A credential of the project itself, for servers, command-line tools and jobs. It grants full access, so it must never be in an
/// app.
///
/// ```swift
/// let backend = try await Infrastructure(.firebase(project: "demo", credential: .applicationDefault))
/// let everything = try await backend.actingAsProject().storage
/// ```
/// Where the configuration names no project, it is the one of the key file or of the environment; see
/// ``FirebaseConfiguration/project``.
///
/// In a configuration file it is `"credential"`: the path of a key file, the text of one (from a variable, such as
/// `"${FIREBASE_SERVICE_ACCOUNT}"`), or `"applicationDefault"`.
///
/// Its tokens are cached until shortly before they expire, and concurrent callers share one request. They are never sent to an
/// emulator, which gets the word `owner` instead.
public struct FirebaseCredential: Sendable {
    /// A token for Google's services, and when it expires.
    public struct Token: Sendable {
        public let value: Secret
        public let expiresAt: Date

        public init(_ value: Secret, expiresAt: Date) {
            self.value = value
            self.expiresAt = expiresAt
        }
    }

    enum Source: Sendable {
        case text(Secret)
        case file(KeyFilePath)
        case applicationDefault
        case closure(id: UUID, @Sendable (_ isRefused: Bool) async throws -> Token)
    }

    let source: Source

    /// The text of a key file: of a service account, of a user (from `gcloud auth application-default login`), or of workload
    /// identity federation.
    public static func keyFile(text: Secret) -> FirebaseCredential { FirebaseCredential(source: .text(text)) }

    /// A key file of one of these kinds. It is read when the clients are made.
    public static func keyFile(_ path: String) -> FirebaseCredential {
        FirebaseCredential(source: .file(KeyFilePath(path)))
    }

    /// The credential that Google's own libraries find: the key file in `GOOGLE_APPLICATION_CREDENTIALS`, the one that `gcloud`
    /// has stored for this user, or, on machines at Google, the one of the metadata server, whose address `GCE_METADATA_HOST`
    /// may change.
    public static let applicationDefault = FirebaseCredential(source: .applicationDefault)

    /// Tokens from somewhere else. They need the scope `https://www.googleapis.com/auth/cloud-platform`.
    ///
    /// - Parameter source: Called if there is no token or it expires soon, and with `isRefused` if the server refused the last
    ///   one.
    public static func tokens(
        _ source: @escaping @Sendable (_ isRefused: Bool) async throws -> Token
    ) -> FirebaseCredential { FirebaseCredential(source: .closure(id: UUID(), source)) }
}

extension FirebaseCredential: Hashable {
    /// A closure is equal only to itself.
    private var identity: [String] {
        switch source {
        case .text(let text): ["text", text.reveal()]
        case .file(let file): ["file", file.path]
        case .applicationDefault: ["applicationDefault"]
        case .closure(let id, _): ["closure", id.uuidString]
        }
    }

    public static func == (left: FirebaseCredential, right: FirebaseCredential) -> Bool {
        left.identity == right.identity
    }
    public func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}

extension FirebaseCredential: CustomStringConvertible, CustomReflectable {
    /// Shows nothing of the key.
    public var description: String {
        switch source {
        case .text: "FirebaseCredential(a key)"
        case .file(let file): "FirebaseCredential(\(file.plain ?? file.shown))"
        case .applicationDefault: "FirebaseCredential(application default)"
        case .closure: "FirebaseCredential(a source of tokens)"
        }
    }

    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension FirebaseCredential: Codable {
    private static let defaultName = "applicationDefault"

    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(Secret.self)
        let first = text.reveal().first { !$0.isWhitespace && $0 != "\u{FEFF}" }
        if text.reveal() == Self.defaultName {
            self = .applicationDefault
        } else if first == "{" {
            self = .keyFile(text: text)
        } else if first == nil {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath,
                    debugDescription: "It is empty. Set the path or the text of a key file, or “applicationDefault”."))
        } else {
            self.init(source: .file(KeyFilePath(text)))
        }
    }

    /// - Throws: An error for a closure, which cannot be written to a file.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch source {
        case .text(let text): try container.encode(text)
        case .file(let file):
            if let path = file.plain { try container.encode(path) } else { try container.encode(file.secret) }
        case .applicationDefault: try container.encode(Self.defaultName)
        case .closure:
            throw EncodingError.invalidValue(
                self,
                EncodingError.Context(
                    codingPath: encoder.codingPath, debugDescription: "A source of tokens cannot be saved in a file."))
        }
    }
}
