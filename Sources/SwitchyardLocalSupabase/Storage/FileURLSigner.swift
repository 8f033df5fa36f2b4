import SwitchyardBytes

/// Signs URLs that are valid without a session. Their key differs from that of sessions, so that neither is accepted as the
/// other.
struct FileURLSigner: Sendable {
    enum Purpose: String, Sendable { case download, upload }

    private let key: [UInt8]
    private let now: @Sendable () -> Int64

    init(_ access: SupabaseAccess) {
        key = HMACSHA256.code(for: Array("signed addresses".utf8), key: access.secret)
        now = access.now
    }

    func token(_ purpose: Purpose, for place: FileObjectName, validFor seconds: Int64, _ more: JSONObject = [:])
        -> String
    {
        var claims: JSONObject = [
            "url": .string(place.key), "scope": .string(purpose.rawValue), "iat": .integer(now()),
            "exp": .integer(now().addingReportingOverflow(seconds).partialValue),
        ]
        for member in more { claims[member.key] = member.value }
        return SupabaseToken(claims: claims).text(secret: key)
    }

    /// The token's claims.
    ///
    /// - Throws: `InvalidJWT` for an invalid or expired token, `InvalidSignature` for a token of another URL.
    func claims(
        of token: String?, _ purpose: Purpose, for place: FileObjectName
    ) throws(LocalSupabaseFileError) -> JSONObject {
        let claims: JSONObject
        do throws(SupabaseToken.Refusal) {
            claims = try SupabaseToken(token ?? "", secret: key, now: now() + SupabaseToken.leeway).claims
        } catch {
            switch error {
            case .expired: throw .invalidToken("\"exp\" claim timestamp check failed")
            case .wrongSignature: throw .invalidToken("signature verification failed")
            default: throw .invalidToken("Invalid Compact JWS")
            }
        }
        guard claims["url"]?.string == place.key, claims["scope"]?.string == purpose.rawValue else {
            throw .invalidSignature
        }
        return claims
    }
}
