import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardWire

/// A parsed key file of Google's.
enum GoogleKeyFile: Sendable {
    case serviceAccount(ServiceAccount)
    /// A user's credential, as stored by `gcloud`.
    case user(clientID: String, clientSecret: Secret, refreshToken: Secret)
    case workload(Workload)

    struct ServiceAccount: Sendable {
        let email: String
        let keyID: String?
        let signer: TokenSigner
        let tokenAddress: String
        let project: String?
    }

    /// An identity issued by another provider.
    struct Workload: Sendable {
        let audience: String
        let tokenType: String
        let tokenAddress: String
        /// The address for acting as a service account.
        let impersonationAddress: String?
        let source: Source
        /// The member of a JSON object that contains the subject token; `nil` for plain text.
        let member: String?

        /// The address of that service account, taken from `…/serviceAccounts/robot@demo.iam.gserviceaccount.com:generate…`.
        var account: String? {
            guard let last = impersonationAddress?.split(separator: "/").last,
                let name = last.split(separator: ":").first.map({ String($0) }), GoogleKeyFile.isAccountName(name)
            else { return nil }
            return name
        }

        enum Source: Sendable {
            case file(String)
            case address(String, headers: [(String, String)])
        }
    }

    /// The project that it belongs to, if it names one.
    var project: String? { if case .serviceAccount(let account) = self { account.project } else { nil } }

    /// Whether a text can be the address of a service account, and is safe to insert into a URL.
    static func isAccountName(_ text: String) -> Bool {
        text.utf8.count(where: { $0 == UInt8(ascii: "@") }) == 1
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "-_.@".utf8.contains(byte)
                }
            }
    }

    static let usualTokenAddress = "https://oauth2.googleapis.com/token"

    /// - Parameter origin: Where it comes from, for error messages, which show nothing else of it.
    init(_ text: Secret, from origin: String) throws(InfrastructureError) {
        func problem(_ what: String) -> InfrastructureError {
            InfrastructureError(.invalidConfiguration, "Firebase's credential, \(origin), cannot be used: \(what)")
        }
        // Some editors begin a file with a byte order mark.
        let bytes = text.reveal().utf8.drop { "\u{FEFF}".utf8.contains($0) }
        guard let file = (try? JSON(parsing: Array(bytes)))?.object else {
            throw problem("it is not JSON. Download a key of a service account: Project settings, Service accounts.")
        }
        func member(_ name: String) throws(InfrastructureError) -> String {
            guard let text = file[name]?.string, !text.isEmpty else { throw problem("it lacks “\(name)”.") }
            return text
        }
        /// Keys and assertions are sent to this address.
        func address(_ name: String, _ text: String) throws(InfrastructureError) -> String {
            guard let parts = try? URLParts(validating: text), parts.mayCarrySecrets(plainTo: nil) else {
                throw problem("its “\(name)” is not an https address.")
            }
            return text
        }
        switch file["type"]?.string {
        case "service_account":
            guard TokenKey.isAvailable else {
                throw problem("signing requires OpenSSL's libcrypto. Install the package libssl3 or libssl1.1.")
            }
            guard let signer = TokenSigner(pem: Secret(try member("private_key"))), signer.algorithm == .rs256 else {
                throw problem("its “private_key” is not an RSA key in PKCS #8. Was it copied with all its lines?")
            }
            self = .serviceAccount(
                ServiceAccount(
                    email: try member("client_email"), keyID: file["private_key_id"]?.string, signer: signer,
                    tokenAddress: try address("token_uri", file["token_uri"]?.string ?? Self.usualTokenAddress),
                    project: file["project_id"]?.string))
        case "authorized_user":
            self = .user(
                clientID: try member("client_id"), clientSecret: Secret(try member("client_secret")),
                refreshToken: Secret(try member("refresh_token")))
        case "external_account":
            let impersonation = file["service_account_impersonation_url"]?.string
            let format = file["credential_source"]?["format"]
            let source: Workload.Source
            if let path = file["credential_source"]?["file"]?.string {
                source = .file(path)
            } else if let text = file["credential_source"]?["url"]?.string {
                let headers = file["credential_source"]?["headers"]?.object ?? [:]
                source = .address(
                    text, headers: headers.compactMap { pair in pair.value.string.map { (pair.key, $0) } })
            } else {
                throw problem("its “credential_source” has neither “file” nor “url”, and others are not supported.")
            }
            self = .workload(
                Workload(
                    audience: try member("audience"), tokenType: try member("subject_token_type"),
                    tokenAddress: try address("token_url", try member("token_url")),
                    impersonationAddress: try impersonation.map { text throws(InfrastructureError) in
                        try address("service_account_impersonation_url", text)
                    }, source: source,
                    member: format?["type"]?.string == "json" ? format?["subject_token_field_name"]?.string : nil))
        case let type:
            let found = type.map { "its type, \(Secret.shown($0)), is not supported" } ?? "it has no type"
            throw problem("\(found). Use service_account, authorized_user or external_account.")
        }
    }
}

/// The path of a key file as it was given, which may turn out to be the key itself, encoded, quoted or cut off: variables for one
/// are often set to the other. So it is printed only if it is clearly a path that was written down.
struct KeyFilePath: Sendable, Hashable {
    /// With the name of the variable it came from, if any.
    private let given: Secret

    init(_ given: Secret) { self.given = given }
    init(_ path: String) { given = Secret(path) }

    var path: String { given.reveal() }

    /// The path in a configuration file; a variable or a secret instead if it may not be printed.
    var plain: String? { given.name == nil && isClearlyPath ? path : nil }
    var secret: Secret { given }

    /// For errors and descriptions.
    var shown: String {
        if let name = given.name { return "the file that the variable \(name) names" }
        return plain.map { "the file “\($0)”" } ?? "a file whose path is not shown"
    }

    private var isClearlyPath: Bool {
        ["/", "./", "../", "~"].contains(where: path.hasPrefix) || path.hasSuffix(".json")
            ? Secret.mayBeShown(path) : false
    }

    /// Why there is no such file.
    var problem: String {
        if Secret.mayBeShown(path) { return "cannot be read. Is the path right?" }
        return
            "cannot be read: the value looks like a key instead of a path. A key is given as the JSON text that Google's "
            + "console downloads, beginning with “{”: not encoded, and without quotes around it."
    }
}
