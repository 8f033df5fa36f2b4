import Foundation
package import Switchyard
package import SwitchyardBytes

/// A parsed JWT. Nothing in it is verified yet.
package struct JSONWebToken: Sendable {
    package let header: JSONObject
    package let claims: JSONObject
    /// The signed bytes: header and claims as received.
    package let signed: [UInt8]
    package let signature: [UInt8]

    /// Larger than any real token, and small enough to parse safely.
    static let limit = 64 << 10

    /// - Parameter expected: What to send instead of text that is no token, for the error's message.
    package init(_ token: Secret, expected: String = "the access token of a signed-in user") throws(TokenError) {
        let text = Array(token.reveal().utf8)
        guard text.count <= Self.limit else {
            throw TokenError(.malformedToken, "The token cannot be checked: it is longer than \(Self.limit) bytes.")
        }
        let parts = text.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
            let signature = Base64.decode(parts[2], alphabet: .url, padding: .absent)
        else {
            throw TokenError(
                .malformedToken,
                "The token cannot be checked: it is not a JSON web token. Send \(expected).")
        }
        self.header = header
        self.claims = claims
        self.signature = signature
        signed = Array(text[..<parts[1].endIndex])
    }

    private static func object(_ part: some Collection<UInt8>) -> JSONObject? {
        // A duplicate name could be read differently here and elsewhere.
        Base64.decode(part, alphabet: .url, padding: .absent).flatMap { try? JSON(parsing: $0) }?.object
    }

    package var algorithm: String { header["alg"]?.string ?? "" }
    package var keyID: String? { header["kid"]?.string }
}

/// The claims that an issuer's tokens must have.
package struct TokenRules: Sendable {
    package let issuers: Set<String>
    /// The required audience; any if `nil`.
    package let audience: String?
    /// The tolerated clock difference, in seconds.
    package static let leeway: Int64 = 60

    package init(issuers: Set<String>, audience: String?) {
        self.issuers = issuers
        self.audience = audience
    }

    /// Checks claims whose signature is valid.
    ///
    /// - Parameter now: In seconds since 1970.
    /// - Returns: The user of the token.
    package func check(_ claims: JSONObject, now: Int64) throws(TokenError) -> AuthUser.ID {
        guard let issuer = claims["iss"]?.string, issuers.contains(issuer) else {
            // The token's own issuer may be made up, so it must not appear in an error.
            let ours = issuers.sorted().map { "“\($0)”" }.joined(separator: " or ")
            throw TokenError(
                .wrongProject,
                "Another project issued the token: its issuer is not \(ours). Check the project in this server's "
                    + "configuration, or send a token of that project.")
        }
        if let audience, !Self.audiences(claims["aud"]).contains(audience) {
            throw TokenError(
                .wrongProject,
                "The token is meant for another project: its audience is not “\(audience)”. Check the project in this "
                    + "server's configuration, or send a token of that project.")
        }
        guard let end = try time("exp", of: claims) else {
            throw TokenError(.malformedToken, "The token does not say when it expires.")
        }
        guard end > now - Self.leeway else {
            throw TokenError(.tokenExpired, "The token has expired. Refresh it and send the request again.")
        }
        for name in ["iat", "nbf", "auth_time"] {
            guard let time = try time(name, of: claims), time > now + Self.leeway else { continue }
            throw TokenError(.tokenNotYetValid, "The token is not valid yet. Check the clock of this machine.")
        }
        guard let user = claims["sub"]?.string, !user.isEmpty, user.utf8.count <= 128 else {
            throw TokenError(
                .malformedToken, "The token does not name a user. Is it a key instead of a session's token?")
        }
        return user
    }

    private func time(_ name: String, of claims: JSONObject) throws(TokenError) -> Int64? {
        guard let value = claims[name], !value.isNull else { return nil }
        guard let seconds = value.int64 ?? value.double.map({ Int64($0.rounded(.down).clamped) }) else {
            throw TokenError(.malformedToken, "The token's “\(name)” is not a time.")
        }
        return seconds
    }

    private static func audiences(_ claim: JSON?) -> [String] {
        claim?.string.map { [$0] } ?? (claim?.array ?? []).compactMap(\.string)
    }
}

extension Double {
    fileprivate var clamped: Double { isNaN ? 0 : Swift.min(Swift.max(self, -1e15), 1e15) }
}

extension VerifiedToken {
    /// The claims of a valid token, as far as their names are common to issuers.
    package init(
        _ token: Secret, by provider: InfrastructureProvider, of userID: AuthUser.ID, _ claims: JSONObject
    ) {
        func date(_ name: String) -> Date? {
            (claims[name]?.double ?? claims[name]?.int64.map(Double.init)).map { Date(timeIntervalSince1970: $0) }
        }
        self.init(
            token: token, provider: provider, userID: userID, issuer: claims["iss"]?.string ?? "",
            issuedAt: date("iat"),
            expiresAt: date("exp") ?? .distantPast, signedInAt: date("auth_time"), email: claims["email"]?.string,
            isEmailVerified: claims["email_verified"]?.bool ?? false,
            phoneNumber: (claims["phone_number"] ?? claims["phone"])?.string.flatMap { $0.isEmpty ? nil : $0 },
            role: claims["role"]?.string,
            claims: Dictionary(claims.map { ($0.key, DocumentValue($0.value)) }, uniquingKeysWith: { _, last in last }))
        if email?.isEmpty == true { email = nil }
    }
}

extension DocumentValue {
    /// A value of plain JSON.
    package init(_ json: JSON) {
        if let object = json.object {
            self = .map(DocumentData(object.map { ($0.key, DocumentValue($0.value)) }))
        } else if let array = json.array {
            self = .array(array.map { DocumentValue($0) })
        } else if let text = json.string {
            self = .string(text)
        } else if let flag = json.bool {
            self = .bool(flag)
        } else if let number = json.int64 {
            self = .integer(number)
        } else if let number = json.double {
            self = .double(number)
        } else {
            self = .null
        }
    }
}
