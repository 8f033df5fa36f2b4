import SwitchyardBytes

/// Checks the types of a body's members, for all calls.
extension AuthCall {
    private enum Kind {
        case text, flag, list
        case oneOf(Set<String>)
    }

    private static let kinds: [String: Kind] = [
        "email": .text, "password": .text, "displayName": .text, "photoUrl": .text, "idToken": .text, "oobCode": .text,
        "newPassword": .text, "newEmail": .text, "customAttributes": .text, "continueUrl": .text, "postBody": .text,
        "requestUri": .text, "refreshToken": .text, "returnSecureToken": .flag, "emailVerified": .flag,
        "disableUser": .flag, "returnOobLink": .flag, "deleteAttribute": .list, "deleteProvider": .list,
        "requestType": .oneOf([
            "OOB_REQ_TYPE_UNSPECIFIED", "PASSWORD_RESET", "OLD_EMAIL_AGREE", "NEW_EMAIL_ACCEPT", "VERIFY_EMAIL",
            "RECOVER_EMAIL", "EMAIL_SIGNIN", "VERIFY_AND_CHANGE_EMAIL", "REVERT_SECOND_FACTOR_ADDITION",
        ]),
    ]

    private static let attributes: Set = [
        "USER_ATTRIBUTE_NAME_UNSPECIFIED", "EMAIL", "DISPLAY_NAME", "PROVIDER", "PHOTO_URL", "PASSWORD",
        "RAW_USER_INFO",
    ]

    /// - Throws: Names the first member with a wrong type.
    func checkShape(of name: String) throws(AuthFailure) {
        let isLookup = name == "accounts:lookup"
        for (key, value) in fields.members.map({ ($0.key, $0.value) }) {
            // Lookups take lists of users.
            if isLookup, ["localId", "email", "phoneNumber"].contains(key) {
                guard value.array != nil else { throw .malformed("/\(key)", "must be array") }
                continue
            }
            switch Self.kinds[key] {
            // Like the vendor, accept values that can be converted to the type.
            case .text?:
                guard !value.isNull, value.array == nil, value.object == nil else {
                    throw .malformed("/\(key)", "must be string")
                }
            case .flag?:
                guard value.bool != nil || value.int != nil || ["true", "false"].contains(value.string) else {
                    throw .malformed("/\(key)", "must be boolean")
                }
            case .list?: guard value.array != nil else { throw .malformed("/\(key)", "must be array") }
            case .oneOf(let allowed)?:
                guard value.int != nil || allowed.contains(value.string ?? "") else {
                    throw .malformed("/\(key)", "must be equal to one of the allowed values")
                }
            case nil: break
            }
        }
        for (index, attribute) in (fields["deleteAttribute"]?.array ?? []).enumerated()
        where !Self.attributes.contains(attribute.string ?? "") {
            throw .malformed("/deleteAttribute/\(index)", "must be equal to one of the allowed values")
        }
    }

    /// A web address, with a scheme and a host.
    static func isAddress(_ text: String) -> Bool {
        guard let end = text.firstRange(of: "://"), end.lowerBound > text.startIndex else { return false }
        let scheme = text[..<end.lowerBound]
        guard scheme.utf8.allSatisfy({ (97...122).contains($0 | 32) || "+-.0123456789".utf8.contains($0) }) else {
            return false
        }
        let host = text[end.upperBound...].prefix { !"/?#".contains($0) }
        return !host.isEmpty && !text.contains(where: \.isWhitespace)
    }
}
