// swift-format-ignore-file
// Declarations of Apple's Security framework, as far as this package uses them: for a type check on other systems. Nothing
// here is ever linked or run.

@_exported import Foundation

public typealias CFTypeRef = AnyObject
public typealias CFString = String
public typealias CFData = Data
public typealias CFArray = [Any]
public typealias CFDictionary = [String: Any]
public typealias OSStatus = Int32

public let errSecSuccess: OSStatus = 0
public let errSecItemNotFound: OSStatus = -25300

public let kSecClass: CFString = "class"
public let kSecClassGenericPassword: CFString = "genp"
public let kSecAttrService: CFString = "svce"
public let kSecAttrAccount: CFString = "acct"
public let kSecAttrAccessGroup: CFString = "agrp"
public let kSecAttrAccessible: CFString = "pdmn"
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"
public let kSecReturnData: CFString = "r_Data"
public let kSecValueData: CFString = "v_Data"

public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    errSecItemNotFound
}
public func SecItemUpdate(_ query: CFDictionary, _ attributes: CFDictionary) -> OSStatus { errSecItemNotFound }
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    errSecItemNotFound
}
public func SecItemDelete(_ query: CFDictionary) -> OSStatus { errSecItemNotFound }

public let kSecAttrKeyType: CFString = "type"
public let kSecAttrKeySizeInBits: CFString = "type"
public let kSecAttrKeyTypeRSA: CFString = "42"
public let kSecAttrKeyTypeECSECPrimeRandom: CFString = "73"
public let kSecAttrKeyClass: CFString = "kcls"
public let kSecAttrKeyClassPublic: CFString = "0"
public let kSecAttrKeyClassPrivate: CFString = "1"

public final class SecKey {}
public struct SecKeyAlgorithm: Sendable {
    public static let rsaSignatureMessagePKCS1v15SHA256 = SecKeyAlgorithm()
    public static let ecdsaSignatureMessageX962SHA256 = SecKeyAlgorithm()
}
public func SecKeyCreateWithData(
    _ data: CFData, _ attributes: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<AnyObject>?>?
) -> SecKey? { nil }
public func SecKeyVerifySignature(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ data: CFData, _ signature: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<AnyObject>?>?
) -> Bool { false }

public func SecKeyCreateSignature(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ data: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<AnyObject>?>?
) -> CFData? { nil }

public func SecKeyCreateRandomKey(
    _ parameters: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<AnyObject>?>?
) -> SecKey? { nil }

public func SecKeyCopyExternalRepresentation(
    _ key: SecKey, _ error: UnsafeMutablePointer<Unmanaged<AnyObject>?>?
) -> CFData? { nil }

public final class SecCertificate {}
public final class SecTrust {}
public typealias CFError = any Error

public func SecCertificateCreateWithData(_ allocator: AnyObject?, _ data: CFData) -> SecCertificate? { nil }
@discardableResult
public func SecTrustSetAnchorCertificates(_ trust: SecTrust, _ anchors: CFArray?) -> OSStatus { errSecSuccess }
@discardableResult
public func SecTrustSetAnchorCertificatesOnly(_ trust: SecTrust, _ only: Bool) -> OSStatus { errSecSuccess }
public func SecTrustEvaluateWithError(_ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?) -> Bool { false }
