/// What clients ask of a local Firebase: every route, with every number and body that it takes.
extension DoorRequest {
    static let firebase = all(
        auth + "\n----\n" + documents + "\n----\n" + files + "\n----\n" + messages + "\n----\n" + control)

    // MARK: Accounts

    private static let auth = #"""
        POST /identitytoolkit.googleapis.com/v1/accounts:signUp?key=any

        {"email":"{name}@example.com","password":"secret-1","returnSecureToken":true}
        ----
        POST /identitytoolkit.googleapis.com/v1/accounts:signUp?key=any

        {}
        ----
        POST /identitytoolkit.googleapis.com/v1/accounts:signInWithPassword?key=any

        {"email":"{name}@example.com","password":"secret-1","returnSecureToken":true}
        ----
        POST /identitytoolkit.googleapis.com/v1/accounts:lookup?key=any

        {"idToken":"{idToken}"}
        ----
        POST /identitytoolkit.googleapis.com/v1/accounts:update?key=any

        {"idToken":"{idToken}","displayName":"Ann","photoUrl":"http://x/1","password":"secret-1","deleteAttribute":["PHOTO_URL",1],"deleteProvider":["google.com"],"returnSecureToken":true}
        ----
        POST /identitytoolkit.googleapis.com/v1/projects/demo-switchyard/accounts:update
        Authorization: Bearer owner

        {"localId":"{localId}","email":"{name}@example.com","emailVerified":true,"phoneNumber":"+15555550100","createdAt":"1700000000000","lastLoginAt":"1700000000000","validSince":"1700000000","disableUser":false,"customAttributes":"{\"n\":1}","mfa":{"enrollments":[{"phoneInfo":"+15555550101","enrolledAt":"2026-01-01T00:00:00Z","displayName":"p"}]}}
        ----
        POST /securetoken.googleapis.com/v1/token?key=any
        Content-Type: application/x-www-form-urlencoded

        grant_type=refresh_token&refresh_token={refreshToken}
        ----
        POST /identitytoolkit.googleapis.com/v1/accounts:sendOobCode?key=any

        {"requestType":"PASSWORD_RESET","email":"{name}@example.com","continueUrl":"http://localhost:3000/x","canHandleCodeInApp":true}
        ----
        POST /identitytoolkit.googleapis.com/v1/projects/demo-switchyard/accounts:sendOobCode
        Authorization: Bearer owner

        {"requestType":1,"email":"{name}@example.com","returnOobLink":true}
        ----
        POST /identitytoolkit.googleapis.com/v1/accounts:resetPassword?key=any

        {"oobCode":"{oobCode}","newPassword":"secret-1"}
        ----
        POST /identitytoolkit.googleapis.com/v1/accounts:signInWithEmailLink?key=any

        {"email":"{name}@example.com","oobCode":"{oobCode}"}
        ----
        POST /identitytoolkit.googleapis.com/v1/accounts:createAuthUri?key=any

        {"identifier":"{name}@example.com","continueUri":"http://localhost/1","providerId":"google.com","sessionId":"{sessionId}"}
        ----
        POST /identitytoolkit.googleapis.com/v1/accounts:signInWithIdp?key=any

        {"requestUri":"http://localhost/1","postBody":"providerId=google.com&id_token=%7B%22iss%22%3A%22%22%2C%22sub%22%3A%221%22%2C%22exp%22%3A4000000000%2C%22email%22%3A%22g%40example.com%22%2C%22email_verified%22%3Atrue%7D&nonce=1","returnSecureToken":true,"returnIdpCredential":true,"autoCreate":true}
        ----
        POST /identitytoolkit.googleapis.com/v1/accounts:signInWithCustomToken?key=any

        {"token":"{\"uid\":\"c1\",\"claims\":{\"n\":1},\"iat\":1700000000,\"exp\":4000000000}","returnSecureToken":true}
        ----
        POST /identitytoolkit.googleapis.com/v1/accounts:sendVerificationCode?key=any

        {"phoneNumber":"+15555375715","recaptchaToken":"x"}
        ----
        POST /identitytoolkit.googleapis.com/v1/accounts:signInWithPhoneNumber?key=any

        {"sessionInfo":"{sessionInfo}","code":"123456","temporaryProof":"{temporaryProof}","phoneNumber":"+15555375715"}
        ----
        POST /identitytoolkit.googleapis.com/v2/accounts/mfaEnrollment:start?key=any

        {"idToken":"{idToken}","phoneEnrollmentInfo":{"phoneNumber":"+15565375715"}}
        ----
        POST /identitytoolkit.googleapis.com/v2/accounts/mfaEnrollment:start?key=any

        {"idToken":"{idToken}","totpEnrollmentInfo":{}}
        ----
        POST /identitytoolkit.googleapis.com/v2/accounts/mfaEnrollment:finalize?key=any

        {"idToken":"{idToken}","displayName":"f","phoneVerificationInfo":{"sessionInfo":"{sessionInfo}","code":"123456"},"totpVerificationInfo":{"sessionInfo":"{sessionInfo}","verificationCode":"123456"}}
        ----
        POST /identitytoolkit.googleapis.com/v2/accounts/mfaSignIn:start?key=any

        {"mfaPendingCredential":"{mfaPendingCredential}","mfaEnrollmentId":"{mfaEnrollmentId}","phoneSignInInfo":{"recaptchaToken":"x"}}
        ----
        POST /identitytoolkit.googleapis.com/v2/accounts/mfaSignIn:finalize?key=any

        {"mfaPendingCredential":"{mfaPendingCredential}","mfaEnrollmentId":"{mfaEnrollmentId}","phoneVerificationInfo":{"sessionInfo":"{sessionInfo}","code":"123456"},"totpVerificationInfo":{"verificationCode":"123456"}}
        ----
        POST /identitytoolkit.googleapis.com/v2/accounts/mfaEnrollment:withdraw?key=any

        {"idToken":"{idToken}","mfaEnrollmentId":"{mfaEnrollmentId}"}
        ----
        POST /identitytoolkit.googleapis.com/v1/projects/demo-switchyard/accounts
        Authorization: Bearer owner

        {"localId":"adm1","email":"adm1@example.com","password":"secret-1","displayName":"Adm","emailVerified":true,"disabled":false,"phoneNumber":"+15555550102","mfaInfo":[{"phoneInfo":"+15555550103"}]}
        ----
        POST /identitytoolkit.googleapis.com/v1/projects/demo-switchyard/accounts:lookup
        Authorization: Bearer owner

        {"localId":["{localId}","adm1"],"email":["x@example.com"],"phoneNumber":["+15555550102"],"federatedUserId":[{"providerId":"google.com","rawId":"1"}]}
        ----
        POST /identitytoolkit.googleapis.com/v1/projects/demo-switchyard:createSessionCookie
        Authorization: Bearer owner

        {"idToken":"{idToken}","validDuration":"3600"}
        ----
        POST /identitytoolkit.googleapis.com/v1/projects/demo-switchyard/accounts:query
        Authorization: Bearer owner

        {"returnUserInfo":true,"limit":"10","offset":"0","sortBy":"CREATED_AT","order":"DESC","expression":[{"email":"x@example.com"}]}
        ----
        POST /identitytoolkit.googleapis.com/v1/projects/demo-switchyard:queryAccounts
        Authorization: Bearer owner

        {"limit":3,"offset":1}
        ----
        POST /identitytoolkit.googleapis.com/v1/projects/demo-switchyard/accounts:batchCreate
        Authorization: Bearer owner

        {"users":[{"localId":"b1","email":"b1@example.com","rawPassword":"secret-1","createdAt":"1700000000000","lastLoginAt":"1700000000000","validSince":"1700000000","customAttributes":"{\"a\":1}","passwordHash":"AAAA","salt":"AAAA","providerUserInfo":[{"providerId":"google.com","rawId":"7"}],"mfaInfo":[{"phoneInfo":"+15555550104","enrolledAt":"2026-01-01T00:00:00Z"}]}],"hashAlgorithm":"SCRYPT","rounds":8,"memoryCost":14,"allowOverwrite":true}
        ----
        GET /identitytoolkit.googleapis.com/v1/projects/demo-switchyard/accounts:batchGet?maxResults=2&nextPageToken={nextPageToken}
        Authorization: Bearer owner
        ----
        POST /identitytoolkit.googleapis.com/v1/projects/demo-switchyard/accounts:batchDelete
        Authorization: Bearer owner

        {"localIds":["b1","b2"],"force":true}
        ----
        POST /identitytoolkit.googleapis.com/v1/accounts:delete?key=any

        {"idToken":"{idToken}"}
        ----
        POST /www.googleapis.com/identitytoolkit/v3/relyingparty/verifyPassword?key=any

        {"email":"{name}@example.com","password":"secret-1"}
        ----
        PATCH /identitytoolkit.googleapis.com/v2/projects/demo-switchyard/config?updateMask=signIn
        Authorization: Bearer owner

        {"signIn":{"allowDuplicateEmails":false},"emailPrivacyConfig":{"enableImprovedEmailPrivacy":false}}
        ----
        GET /identitytoolkit.googleapis.com/v2/passwordPolicy?key=any
        """#

    // MARK: Documents

    private static let documents = #"""
        POST /v1/projects/demo-switchyard/databases/(default)/documents:commit
        Authorization: Bearer {idToken}

        {"writes":[{"update":{"name":"projects/demo-switchyard/databases/(default)/documents/c/a","fields":{"n":{"integerValue":"1"},"d":{"doubleValue":1.5},"t":{"timestampValue":"2026-01-01T00:00:00.123456789Z"},"b":{"bytesValue":"AAEC"},"g":{"geoPointValue":{"latitude":1.5,"longitude":-2}},"r":{"referenceValue":"projects/demo-switchyard/databases/(default)/documents/c/b"},"l":{"arrayValue":{"values":[{"integerValue":2},{"nullValue":null}]}},"m":{"mapValue":{"fields":{"x":{"booleanValue":true},"v":{"mapValue":{"fields":{"__type__":{"stringValue":"__vector__"},"value":{"arrayValue":{"values":[{"doubleValue":1},{"doubleValue":2}]}}}}}}}}}},"updateMask":{"fieldPaths":["n","`a.b`.c"]},"currentDocument":{"updateTime":"2026-01-01T00:00:00.000001Z"}}]}
        ----
        POST /v1/projects/demo-switchyard/databases/(default)/documents:commit
        Authorization: Bearer owner

        {"writes":[{"transform":{"document":"projects/demo-switchyard/databases/(default)/documents/c/a","fieldTransforms":[{"fieldPath":"n","increment":{"integerValue":"1"}},{"fieldPath":"d","increment":{"doubleValue":0.5}},{"fieldPath":"x","maximum":{"integerValue":"9"}},{"fieldPath":"y","minimum":{"doubleValue":-1}},{"fieldPath":"s","setToServerValue":1},{"fieldPath":"l","appendMissingElements":{"values":[{"integerValue":"3"}]}},{"fieldPath":"l","removeAllFromArray":{"values":[{"integerValue":"2"}]}}]}},{"delete":"projects/demo-switchyard/databases/(default)/documents/c/z","currentDocument":{"exists":false}},{"verify":"projects/demo-switchyard/databases/(default)/documents/c/a"}],"transaction":"{transaction}"}
        ----
        POST /v1/projects/demo-switchyard/databases/(default)/documents:batchWrite
        Authorization: Bearer owner

        {"writes":[{"update":{"name":"projects/demo-switchyard/databases/(default)/documents/c/b","fields":{"n":{"integerValue":"2"}}}}],"labels":{"a":"1"}}
        ----
        POST /v1/projects/demo-switchyard/databases/(default)/documents:batchGet
        Authorization: Bearer owner

        {"documents":["projects/demo-switchyard/databases/(default)/documents/c/a"],"mask":{"fieldPaths":["n"]},"newTransaction":{"readWrite":{"retryTransaction":"{transaction}"}}}
        ----
        POST /v1/projects/demo-switchyard/databases/(default)/documents:runQuery
        Authorization: Bearer owner

        {"structuredQuery":{"from":[{"collectionId":"c","allDescendants":true}],"where":{"compositeFilter":{"op":"AND","filters":[{"fieldFilter":{"field":{"fieldPath":"n"},"op":3,"value":{"integerValue":"0"}}},{"unaryFilter":{"field":{"fieldPath":"d"},"op":"IS_NOT_NAN"}}]}},"orderBy":[{"field":{"fieldPath":"n"},"direction":2},{"field":{"fieldPath":"__name__"},"direction":"DESCENDING"}],"startAt":{"values":[{"integerValue":"10"}],"before":true},"endAt":{"values":[{"integerValue":"-10"}],"before":false},"offset":0,"limit":5,"select":{"fields":[{"fieldPath":"n"}]}},"newTransaction":{"readOnly":{}}}
        ----
        POST /v1/projects/demo-switchyard/databases/(default)/documents:runQuery
        Authorization: Bearer owner

        {"structuredQuery":{"from":[{"collectionId":"c"}],"where":{"fieldFilter":{"field":{"fieldPath":"n"},"op":"NOT_IN","value":{"arrayValue":{"values":[{"integerValue":"7"},{"doubleValue":1e300},{"stringValue":"x"}]}}}},"limit":3}}
        ----
        POST /v1/projects/demo-switchyard/databases/(default)/documents:runQuery
        Authorization: Bearer owner

        {"structuredQuery":{"from":[{"allDescendants":true}],"where":{"fieldFilter":{"field":{"fieldPath":"__name__"},"op":"GREATER_THAN","value":{"referenceValue":"projects/demo-switchyard/databases/(default)/documents/c/a"}}},"orderBy":[{"field":{"fieldPath":"__name__"}}],"offset":1,"limit":3}}
        ----
        POST /v1/projects/demo-switchyard/databases/(default)/documents:runQuery
        Authorization: Bearer owner

        {"structuredQuery":{"from":[{"collectionId":"c"}],"findNearest":{"vectorField":{"fieldPath":"m.v"},"queryVector":{"mapValue":{"fields":{"__type__":{"stringValue":"__vector__"},"value":{"arrayValue":{"values":[{"doubleValue":1},{"doubleValue":1e300}]}}}}},"distanceMeasure":2,"limit":3,"distanceThreshold":1.5,"distanceResultField":"far"}}}
        ----
        POST /v1/projects/demo-switchyard/databases/(default)/documents:runAggregationQuery
        Authorization: Bearer owner

        {"structuredAggregationQuery":{"structuredQuery":{"from":[{"collectionId":"c"}],"limit":10},"aggregations":[{"alias":"a","count":{"upTo":"100"}},{"alias":"s","sum":{"field":{"fieldPath":"n"}}},{"alias":"v","avg":{"field":{"fieldPath":"n"}}}]}}
        ----
        POST /v1/projects/demo-switchyard/databases/(default)/documents:partitionQuery
        Authorization: Bearer owner

        {"structuredQuery":{"from":[{"collectionId":"c","allDescendants":true}],"orderBy":[{"field":{"fieldPath":"__name__"},"direction":"ASCENDING"}]},"partitionCount":"3","pageSize":2,"pageToken":"0"}
        ----
        POST /v1/projects/demo-switchyard/databases/(default)/documents:listCollectionIds
        Authorization: Bearer owner

        {"pageSize":2,"pageToken":"a"}
        ----
        POST /v1/projects/demo-switchyard/databases/(default)/documents/c/a:listCollectionIds
        Authorization: Bearer owner

        {"pageSize":1}
        ----
        POST /v1/projects/demo-switchyard/databases/(default)/documents:beginTransaction
        Authorization: Bearer owner

        {"options":{"readWrite":{"retryTransaction":"{transaction}"}}}
        ----
        POST /v1/projects/demo-switchyard/databases/(default)/documents:rollback
        Authorization: Bearer owner

        {"transaction":"{transaction}"}
        ----
        GET /v1/projects/demo-switchyard/databases/(default)/documents/c?pageSize=2&pageToken={nextPageToken}&orderBy=n%20desc&showMissing=true&mask.fieldPaths=n
        Authorization: Bearer owner
        ----
        GET /v1/projects/demo-switchyard/databases/(default)/documents/c/a?mask.fieldPaths=n&readTime=2026-01-01T00:00:00Z
        Authorization: Bearer owner
        ----
        POST /v1/projects/demo-switchyard/databases/(default)/documents/c?documentId=n1&mask.fieldPaths=n
        Authorization: Bearer owner

        {"fields":{"n":{"integerValue":"1"}}}
        ----
        PATCH /v1/projects/demo-switchyard/databases/(default)/documents/c/a?updateMask.fieldPaths=n&currentDocument.exists=true&currentDocument.updateTime=2026-01-01T00:00:00Z
        Authorization: Bearer owner

        {"fields":{"n":{"integerValue":"5"}},"updateTime":"2026-01-01T00:00:00Z"}
        ----
        DELETE /v1/projects/demo-switchyard/databases/(default)/documents/c/z?currentDocument.exists=true
        Authorization: Bearer owner
        ----
        POST /google.firestore.v1.Firestore/Listen/channel?VER=8&database=projects%2Fdemo-switchyard%2Fdatabases%2F(default)&RID=100&CVER=22&X-HTTP-Session-Id=gsessionid&t=1
        Content-Type: application/x-www-form-urlencoded

        headers=Authorization%3ABearer%20owner%0D%0A&count=1&ofs=0&req0___data__=%7B%22addTarget%22%3A%7B%22targetId%22%3A2%2C%22query%22%3A%7B%22parent%22%3A%22projects%2Fdemo-switchyard%2Fdatabases%2F(default)%2Fdocuments%22%2C%22structuredQuery%22%3A%7B%22from%22%3A%5B%7B%22collectionId%22%3A%22c%22%7D%5D%2C%22limit%22%3A5%7D%7D%2C%22expectedCount%22%3A3%2C%22resumeToken%22%3A%22AAAAAAAAAAE%3D%22%7D%7D
        ----
        POST /google.firestore.v1.Firestore/Listen/channel?VER=8&SID={sid}&gsessionid={gsid}&RID=101&AID=1
        Content-Type: application/x-www-form-urlencoded

        count=2&ofs=1&req0___data__=%7B%22addTarget%22%3A%7B%22targetId%22%3A4%2C%22documents%22%3A%7B%22documents%22%3A%5B%22projects%2Fdemo-switchyard%2Fdatabases%2F(default)%2Fdocuments%2Fc%2Fa%22%5D%7D%2C%22once%22%3Atrue%7D%7D&req1___data__=%7B%22removeTarget%22%3A2%7D
        ----
        GET /google.firestore.v1.Firestore/Listen/channel?VER=8&SID={sid}&gsessionid={gsid}&RID=rpc&AID=0&CI=1&TYPE=xmlhttp&t=1
        ----
        GET /google.firestore.v1.Firestore/Listen/channel?VER=8&SID={sid}&gsessionid={gsid}&RID=rpc&AID=1&CI=0&TYPE=xmlhttp&t=1
        ----
        GET /google.firestore.v1.Firestore/Listen/channel?VER=8&SID={sid}&gsessionid={gsid}&RID=102&TYPE=terminate
        ----
        POST /google.firestore.v1.Firestore/Write/channel?VER=8&database=projects%2Fdemo-switchyard%2Fdatabases%2F(default)&RID=100&CVER=22&X-HTTP-Session-Id=gsessionid
        Content-Type: application/x-www-form-urlencoded

        headers=Authorization%3ABearer%20owner%0D%0A&count=1&ofs=0&req0___data__=%7B%22database%22%3A%22projects%2Fdemo-switchyard%2Fdatabases%2F(default)%22%7D
        ----
        POST /google.firestore.v1.Firestore/Write/channel?VER=8&SID={sid}&gsessionid={gsid}&RID=101
        Content-Type: application/x-www-form-urlencoded

        count=1&ofs=1&req0___data__=%7B%22streamToken%22%3A%22MQ%3D%3D%22%2C%22writes%22%3A%5B%7B%22update%22%3A%7B%22name%22%3A%22projects%2Fdemo-switchyard%2Fdatabases%2F(default)%2Fdocuments%2Fc%2Fw%22%2C%22fields%22%3A%7B%22n%22%3A%7B%22integerValue%22%3A%221%22%7D%7D%7D%7D%5D%7D
        """#

    // MARK: Files

    private static let files = #"""
        POST /v0/b/demo.appspot.com/o?name=users%2F{localId}%2Fa.txt
        Authorization: Firebase {idToken}
        Content-Type: text/plain

        0123456789
        ----
        POST /v0/b/demo.appspot.com/o?name=m1
        Authorization: Bearer owner
        X-Goog-Upload-Protocol: multipart
        Content-Type: multipart/related; boundary=bnd

        --bnd
        Content-Type: application/json; charset=utf-8

        {"contentType":"text/plain","metadata":{"n":"1"},"cacheControl":"max-age=60"}
        --bnd
        Content-Type: text/plain

        hello
        --bnd--
        ----
        POST /v0/b/demo.appspot.com/o?name=r1
        Authorization: Bearer owner
        X-Goog-Upload-Protocol: resumable
        X-Goog-Upload-Command: start
        X-Goog-Upload-Header-Content-Length: 10
        X-Goog-Upload-Header-Content-Type: text/plain

        {"metadata":{"n":"1"}}
        ----
        POST {upload}
        Authorization: Bearer owner
        X-Goog-Upload-Command: upload
        X-Goog-Upload-Offset: 0

        01234
        ----
        POST {upload}
        Authorization: Bearer owner
        X-Goog-Upload-Command: upload, finalize
        X-Goog-Upload-Offset: 0

        0123456789
        ----
        POST {upload}
        Authorization: Bearer owner
        X-Goog-Upload-Command: query
        ----
        POST {upload}
        Authorization: Bearer owner
        X-Goog-Upload-Command: cancel
        ----
        GET /v0/b/demo.appspot.com/o/m1?alt=media&token={downloadTokens}
        Range: bytes=1-3
        If-Range: "1"
        ----
        GET /v0/b/demo.appspot.com/o/m1?alt=media
        Authorization: Bearer owner
        Range: bytes=-2
        ----
        GET /v0/b/demo.appspot.com/o/m1
        Authorization: Bearer owner
        ----
        GET /v0/b/demo.appspot.com/o?prefix=m&delimiter=%2F&maxResults=2&pageToken={nextPageToken}
        Authorization: Bearer owner
        ----
        PATCH /v0/b/demo.appspot.com/o/m1
        Authorization: Bearer owner

        {"contentType":"text/html","metadata":{"n":"2","m":null},"cacheControl":"max-age=1"}
        ----
        POST /v0/b/demo.appspot.com/o/m1?create_token=true&delete_token={downloadTokens}
        Authorization: Bearer owner
        ----
        PUT /v0/b/demo.appspot.com/o/m2
        Authorization: Bearer owner
        X-HTTP-Method-Override: PATCH

        hello 1
        ----
        DELETE /v0/b/demo.appspot.com/o/m2
        Authorization: Bearer owner
        ----
        POST /upload/storage/v1/b/demo.appspot.com/o?uploadType=media&name=c1&ifGenerationMatch=0
        Content-Type: text/plain

        hello 1
        ----
        POST /upload/storage/v1/b/demo.appspot.com/o?uploadType=resumable&name=c2
        X-Upload-Content-Length: 5

        {"name":"c2","contentType":"text/plain","metadata":{"n":"1"}}
        ----
        PUT /upload/storage/v1/b/demo.appspot.com/o?uploadType=resumable&upload_id={upload_id}
        Content-Range: bytes 0-4/5

        hello
        ----
        PUT /upload/storage/v1/b/demo.appspot.com/o?uploadType=resumable&upload_id={upload_id}
        Content-Range: bytes */5
        ----
        DELETE /upload/storage/v1/b/demo.appspot.com/o?upload_id={upload_id}
        ----
        GET /storage/v1/b/demo.appspot.com/o?prefix=c&delimiter=%2F&maxResults=2&pageToken={nextPageToken}&startOffset=a&endOffset=z
        ----
        GET /storage/v1/b/demo.appspot.com/o/c1?generation={generation}&ifMetagenerationMatch=1
        ----
        PATCH /storage/v1/b/demo.appspot.com/o/c1

        {"contentType":"text/html","metadata":{"n":1,"firebaseStorageDownloadTokens":"a,b"},"cacheControl":"max-age=1"}
        ----
        POST /storage/v1/b/demo.appspot.com/o/c3/compose

        {"sourceObjects":[{"name":"c1","generation":"1"},{"name":"c1","objectPreconditions":{"ifGenerationMatch":1}}],"destination":{"contentType":"text/plain"}}
        ----
        POST /storage/v1/b/demo.appspot.com/o/c1/rewriteTo/b/demo.appspot.com/o/c4?ifSourceGenerationMatch=1

        {"contentType":"text/plain"}
        ----
        GET /download/storage/v1/b/demo.appspot.com/o/c1?alt=media
        Range: bytes=0-1
        ----
        GET /demo.appspot.com/c1?X-Goog-Signature=1&X-Goog-Date=20260101T000000Z&X-Goog-Expires=604800
        ----
        GET /demo.appspot.com/c1?Signature=1&Expires=1
        ----
        PUT /demo.appspot.com/c5?X-Goog-Signature=1&X-Goog-Date=20260101T000000Z&X-Goog-Expires=1

        hello 1
        ----
        DELETE /storage/v1/b/demo.appspot.com/o/c1
        ----
        POST /storage/v1/b

        {"name":"fresh1"}
        ----
        DELETE /storage/v1/b/fresh1
        ----
        PUT /internal/setRules

        {"rules":{"files":[{"name":"1","content":""}]}}
        ----
        POST /internal/reset
        """#

    // MARK: Messages

    private static let messages = #"""
        POST /firebaseinstallations.googleapis.com/v1/projects/demo-switchyard/installations
        x-goog-api-key: any

        {"fid":"cAAAAAAAAAAAAAAAAAAAA1","appId":"1:123:web:a","authVersion":"FIS_v2","sdkVersion":"w:1"}
        ----
        POST /firebaseinstallations.googleapis.com/v1/projects/demo-switchyard/installations/{fid}/authTokens:generate
        Authorization: FIS_v2 {refreshToken}

        {"installation":{"sdkVersion":"w:1"}}
        ----
        DELETE /firebaseinstallations.googleapis.com/v1/projects/demo-switchyard/installations/{fid}
        Authorization: FIS_v2 {refreshToken}
        ----
        POST /fcmregistrations.googleapis.com/v1/projects/demo-switchyard/registrations
        X-Goog-Firebase-Installations-Auth: FIS {token}

        {"web":{"endpoint":"https://push/1","auth":"AAAA","p256dh":"BBBB","applicationPubKey":"C"}}
        ----
        PATCH /fcmregistrations.googleapis.com/v1/projects/demo-switchyard/registrations/{registration}
        X-Goog-Firebase-Installations-Auth: FIS {token}

        {"web":{"endpoint":"https://push/2","auth":"AAAA","p256dh":"BBBB"}}
        ----
        POST /fcmregistrations.googleapis.com/v1/projects/demo-switchyard/registrations/{registration}/topicSubscriptions/t1:subscribe
        X-Goog-Firebase-Installations-Auth: FIS {token}

        {}
        ----
        POST /fcm.googleapis.com/v1/projects/demo-switchyard/messages:send
        Authorization: Bearer owner

        {"message":{"token":"{registration}","notification":{"title":"1"},"data":{"n":"1"},"android":{"ttl":"3600s","notification":{"notification_count":1}},"apns":{"headers":{"apns-expiration":"1700000000","apns-priority":"10"},"payload":{"aps":{"badge":1}}},"webpush":{"headers":{"TTL":"60"}}},"validate_only":false}
        ----
        POST /fcm.googleapis.com/v1/projects/demo-switchyard/messages:send
        Authorization: Bearer owner

        {"message":{"condition":"'t1' in topics && ('t2' in topics || !('t3' in topics))","data":{"n":"1"}}}
        ----
        POST /fcm.googleapis.com/v1/projects/demo-switchyard/registrations/{registration}/topicSubscriptions?topic_name=t2
        Authorization: Bearer owner

        {"subscription":{"ttl":"60s"}}
        ----
        GET /fcm.googleapis.com/v1/projects/demo-switchyard/registrations/{registration}/topicSubscriptions?pageSize=2
        Authorization: Bearer owner
        ----
        DELETE /fcm.googleapis.com/v1/projects/demo-switchyard/registrations/{registration}/topicSubscriptions/t2?allowMissing=true
        Authorization: Bearer owner
        ----
        POST /iid.googleapis.com/iid/v1:batchAdd
        Authorization: Bearer owner

        {"to":"/topics/t1","registration_tokens":["{registration}","x1"]}
        ----
        GET /emulator/v1/projects/demo-switchyard/registrations/{registration}/messages
        """#

    // MARK: Control

    private static let control = #"""
        GET /
        ----
        GET /_firebase
        ----
        GET /emulator/v1/projects/demo-switchyard/oobCodes
        ----
        GET /emulator/v1/projects/demo-switchyard/verificationCodes
        ----
        PUT /emulator/v1/projects/demo-switchyard:securityRules

        {"rules":{"files":[{"name":"security.rules","content":"service cloud.firestore { /* 1"}]}}
        ----
        POST /identitytoolkit.googleapis.com/v1/projects/demo-other/accounts:batchCreate
        Authorization: Bearer owner

        {"users":[{"localId":"i1","createdAt":"1500000000000","lastLoginAt":1500000000000,"validSince":"1500000000","disabled":true}]}
        ----
        GET /identitytoolkit.googleapis.com/v1/projects/demo-other/accounts:batchGet?maxResults=1&nextPageToken=a
        Authorization: Bearer owner
        ----
        PATCH /emulator/v1/projects/demo-switchyard/config

        {"signIn":{"allowDuplicateEmails":false}}
        ----
        GET /emulator/action?mode=verifyEmail&lang=en&oobCode={oobCode}&apiKey=1&newPassword=secret-1
        ----
        GET /emulator/browser?sub=1&email=x%40example.com&session={sessionId}&requestUri=http%3A%2F%2Flocalhost%3A1
        ----
        POST /emulator/v1/projects/demo-switchyard/streamFaults

        {"duplicateArrays":1,"reorderArrays":1,"misstateCount":1,"expireTokens":false}
        ----
        DELETE /emulator/v1/projects/demo-switchyard/databases/(default)/documents
        ----
        POST /_faults

        {"fault":"pace","bytes":100,"milliseconds":1,"path":"/never","times":2,"after":1}
        ----
        POST /_faults

        {"fault":"cut","bytes":20,"reset":true,"path":"/v1/{rest...}","times":1}
        ----
        POST /_faults

        {"fault":"delay","milliseconds":5,"method":"GET","path":"/","times":1}
        ----
        POST /_faults

        {"fault":"answer","status":503,"headers":{"Retry-After":"1"},"body":"x","path":"/never","times":null}
        ----
        POST /_faults/1/open
        ----
        DELETE /_faults/1
        ----
        GET /_faults
        ----
        POST /_faults/disconnect?reset=true
        """#
}
