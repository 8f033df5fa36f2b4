public import Foundation
public import Switchyard

/// What proves to Google that it is the project itself that asks: for servers, command-line tools and jobs. Whoever holds one may
/// do everything, so that it must never be in an app.
///
/// ```swift
/// let backend = try await Infrastructure(.firebase(project: "demo", credential: .applicationDefault))
/// let everything = try await backend.actingAsProject().storage
/// ```
/// In a configuration file it is `"credential"`: the path of a key file, the text of one (from a variable, such as
/// `"${FIREBASE_SERVICE_ACCOUNT}"`), or `"applicationDefault"`.
///
/// Its tokens are kept until shortly before they run out, and fetched once for all who ask at the same time. They never go to an
/// emulator: those are sent the word that they take for the project's.
public struct FirebaseCredential: Sendable {
    /// A token with which Google's services are asked, and until when it is good.
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
        case file(String)
        case applicationDefault
        case closure(id: UUID, @Sendable (_ isRefused: Bool) async throws -> Token)
    }

    let source: Source

    /// The text of a key file: a service account's, a user's of `gcloud auth application-default login`, or one of workload
    /// identity, with which the machine's own identity elsewhere is exchanged.
    public static func keyFile(text: Secret) -> FirebaseCredential { FirebaseCredential(source: .text(text)) }

    /// A key file of any of these kinds; it is read when the clients are made.
    public static func keyFile(_ path: String) -> FirebaseCredential { FirebaseCredential(source: .file(path)) }

    /// What Google's own libraries take: the key file that `GOOGLE_APPLICATION_CREDENTIALS` names, the one that `gcloud` has
    /// left for this user, or else what the machine is given where it runs at Google, by the metadata server, whose address
    /// `GCE_METADATA_HOST` may change.
    public static let applicationDefault = FirebaseCredential(source: .applicationDefault)

    /// Tokens from somewhere else. They need the scope `https://www.googleapis.com/auth/cloud-platform`.
    ///
    /// - Parameter source: Asked when there is no token or it runs out soon, and with `isRefused` when the server did not take
    ///   the last one.
    public static func tokens(
        _ source: @escaping @Sendable (_ isRefused: Bool) async throws -> Token
    ) -> FirebaseCredential { FirebaseCredential(source: .closure(id: UUID(), source)) }
}

extension FirebaseCredential: Hashable {
    /// A closure equals itself only.
    private var identity: [String] {
        switch source {
        case .text(let text): ["text", text.reveal()]
        case .file(let path): ["file", path]
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
    /// Nothing of the key.
    public var description: String {
        switch source {
        case .text: "FirebaseCredential(a key)"
        case .file(let path): "FirebaseCredential(\(path))"
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
        let first = text.reveal().first { !$0.isWhitespace }
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
            self = .keyFile(text.reveal())
        }
    }

    /// - Throws: For a closure, which no file can hold.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch source {
        case .text(let text): try container.encode(text)
        case .file(let path): try container.encode(path)
        case .applicationDefault: try container.encode(Self.defaultName)
        case .closure:
            throw EncodingError.invalidValue(
                self,
                EncodingError.Context(
                    codingPath: encoder.codingPath, debugDescription: "A source of tokens cannot be kept in a file."))
        }
    }
}
