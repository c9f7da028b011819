// Prose in many languages and scripts for the tests of the token estimate: typical questions and answers.

/** Texts by language. */
export const textsByLanguage: Readonly<Record<string, string>> = {
  German:
    "Guten Morgen, ich habe letzte Woche eine Lampe bestellt und noch keine Versandbestätigung erhalten. Könnten Sie bitte nachsehen, ob das Paket schon unterwegs ist? Falls die Lieferung sich verzögert, würde ich die Bestellung lieber stornieren und das Geld zurückbekommen. Außerdem hätte ich gern gewusst, ob die Rechnung auf unsere neue Adresse ausgestellt werden kann.",
  French:
    "Bonjour, j'ai commandé une lampe la semaine dernière et je n'ai toujours pas reçu de confirmation d'envoi. Pourriez-vous vérifier si le colis est déjà en route ? Si la livraison prend du retard, je préférerais annuler la commande et être remboursé. J'aimerais aussi savoir s'il est possible d'établir la facture à notre nouvelle adresse.",
  Spanish:
    "Buenos días, la semana pasada pedí una lámpara y todavía no he recibido la confirmación del envío. ¿Podrían comprobar si el paquete ya está en camino? Si la entrega se retrasa, preferiría cancelar el pedido y que me devuelvan el dinero. También me gustaría saber si la factura puede emitirse a nuestra nueva dirección.",
  Portuguese:
    "Bom dia, encomendei um candeeiro na semana passada e ainda não recebi a confirmação do envio. Poderiam verificar se a encomenda já está a caminho? Se a entrega atrasar, prefiro cancelar o pedido e receber o dinheiro de volta. Gostaria também de saber se a fatura pode ser emitida para a nossa nova morada.",
  Italian:
    "Buongiorno, la settimana scorsa ho ordinato una lampada e non ho ancora ricevuto la conferma della spedizione. Potreste controllare se il pacco è già in viaggio? Se la consegna dovesse tardare, preferirei annullare l'ordine e riavere i soldi. Vorrei anche sapere se la fattura può essere intestata al nostro nuovo indirizzo.",
  Dutch:
    "Goedemorgen, ik heb vorige week een lamp besteld en nog geen bevestiging van de verzending gekregen. Kunt u nakijken of het pakket al onderweg is? Als de levering langer duurt, wil ik de bestelling liever annuleren en mijn geld terugkrijgen. Verder zou ik graag weten of de factuur op ons nieuwe adres kan worden gezet.",
  Swedish:
    "God morgon, jag beställde en lampa förra veckan och har ännu inte fått någon bekräftelse på att den har skickats. Kan ni kontrollera om paketet redan är på väg? Om leveransen blir försenad vill jag hellre avboka beställningen och få pengarna tillbaka. Jag undrar också om fakturan kan ställas till vår nya adress.",
  Polish:
    "Dzień dobry, w zeszłym tygodniu zamówiłem lampę i nadal nie otrzymałem potwierdzenia wysyłki. Czy mogliby Państwo sprawdzić, czy paczka jest już w drodze? Jeśli dostawa się opóźni, wolałbym anulować zamówienie i odzyskać pieniądze. Chciałbym też wiedzieć, czy fakturę można wystawić na nasz nowy adres.",
  Czech:
    "Dobrý den, minulý týden jsem si objednal lampu a stále jsem nedostal potvrzení o odeslání. Mohli byste prosím zjistit, zda je balík už na cestě? Pokud se dodání zpozdí, raději bych objednávku zrušil a dostal peníze zpět. Také bych rád věděl, zda lze fakturu vystavit na naši novou adresu.",
  Hungarian:
    "Jó napot kívánok, múlt héten rendeltem egy lámpát, de még nem kaptam visszaigazolást a feladásról. Meg tudnák nézni, hogy a csomag úton van-e már? Ha a szállítás késik, inkább lemondanám a rendelést, és visszakérném a pénzt. Azt is szeretném tudni, hogy a számlát ki lehet-e állítani az új címünkre.",
  Romanian:
    "Bună dimineața, săptămâna trecută am comandat o lampă și încă nu am primit confirmarea expedierii. Puteți verifica dacă pachetul este deja pe drum? Dacă livrarea întârzie, aș prefera să anulez comanda și să primesc banii înapoi. Aș vrea să știu și dacă factura poate fi emisă pe noua noastră adresă.",
  Turkish:
    "Günaydın, geçen hafta bir lamba sipariş ettim ve hâlâ gönderim onayı almadım. Paketin yola çıkıp çıkmadığını kontrol edebilir misiniz? Teslimat gecikirse siparişi iptal edip paramı geri almayı tercih ederim. Ayrıca faturanın yeni adresimize kesilip kesilemeyeceğini öğrenmek istiyorum.",
  Finnish:
    "Hyvää huomenta, tilasin viime viikolla lampun enkä ole vielä saanut vahvistusta lähetyksestä. Voisitteko tarkistaa, onko paketti jo matkalla? Jos toimitus viivästyy, haluaisin mieluummin perua tilauksen ja saada rahat takaisin. Haluaisin myös tietää, voidaanko lasku osoittaa uuteen osoitteeseemme.",
  Indonesian:
    "Selamat pagi, minggu lalu saya memesan sebuah lampu dan belum menerima konfirmasi pengiriman. Bisakah Anda memeriksa apakah paketnya sudah dalam perjalanan? Kalau pengirimannya terlambat, saya lebih suka membatalkan pesanan dan menerima uang kembali. Saya juga ingin tahu apakah faktur dapat dikirim ke alamat baru kami.",
  Swahili:
    "Habari za asubuhi, niliagiza taa wiki iliyopita na bado sijapokea uthibitisho wa kutumwa. Je, mnaweza kuangalia kama kifurushi kiko njiani tayari? Ikiwa usafirishaji utachelewa, ningependa kughairi agizo na kurudishiwa pesa zangu. Pia ningependa kujua kama ankara inaweza kutumwa kwenye anwani yetu mpya.",
  Vietnamese:
    "Chào buổi sáng, tuần trước tôi đã đặt một chiếc đèn và vẫn chưa nhận được xác nhận gửi hàng. Bạn có thể kiểm tra xem gói hàng đã được gửi đi chưa? Nếu việc giao hàng bị chậm, tôi muốn hủy đơn và nhận lại tiền. Tôi cũng muốn biết hóa đơn có thể được xuất theo địa chỉ mới của chúng tôi hay không.",
  Russian:
    "Доброе утро, на прошлой неделе я заказал лампу и до сих пор не получил подтверждения об отправке. Не могли бы вы проверить, в пути ли уже посылка? Если доставка задерживается, я предпочёл бы отменить заказ и вернуть деньги. Ещё хотелось бы узнать, можно ли выставить счёт на наш новый адрес.",
  Ukrainian:
    "Доброго ранку, минулого тижня я замовив лампу і досі не отримав підтвердження про відправлення. Чи не могли б ви перевірити, чи посилка вже в дорозі? Якщо доставка затримується, я волів би скасувати замовлення і повернути гроші. Також хотів би дізнатися, чи можна виставити рахунок на нашу нову адресу.",
  Bulgarian:
    "Добро утро, миналата седмица поръчах лампа и все още не съм получил потвърждение за изпращането. Бихте ли проверили дали пратката вече пътува? Ако доставката се забави, предпочитам да откажа поръчката и да получа парите си обратно. Искам също да знам дали фактурата може да бъде издадена на новия ни адрес.",
  Serbian:
    "Добро јутро, прошле недеље сам наручио лампу и још нисам добио потврду о слању. Можете ли да проверите да ли је пакет већ на путу? Ако испорука касни, радије бих отказао поруџбину и добио новац назад. Желео бих и да знам да ли рачун може да гласи на нашу нову адресу.",
  Greek:
    "Καλημέρα, παρήγγειλα ένα φωτιστικό την περασμένη εβδομάδα και δεν έχω λάβει ακόμη επιβεβαίωση της αποστολής. Μπορείτε να ελέγξετε αν το δέμα είναι ήδη καθ' οδόν; Αν η παράδοση καθυστερήσει, θα προτιμούσα να ακυρώσω την παραγγελία και να πάρω πίσω τα χρήματά μου. Θα ήθελα επίσης να μάθω αν το τιμολόγιο μπορεί να εκδοθεί στη νέα μας διεύθυνση.",
  Armenian:
    "Բարի լույս, անցյալ շաբաթ ես պատվիրել եմ լամպ և դեռ չեմ ստացել առաքման հաստատումը։ Կարո՞ղ եք ստուգել՝ արդյոք ծանրոցն արդեն ճանապարհին է։ Եթե առաքումը ուշանա, ես կնախընտրեի չեղարկել պատվերը և հետ ստանալ գումարը։ Կցանկանայի նաև իմանալ, թե հնարավոր է արդյոք հաշիվը դուրս գրել մեր նոր հասցեով։",
  Georgian:
    "დილა მშვიდობისა, გასულ კვირას შევუკვეთე ნათურა და ჯერ არ მიმიღია გაგზავნის დადასტურება. შეგიძლიათ შეამოწმოთ, უკვე გზაშია თუ არა ამანათი? თუ მიტანა დაგვიანდება, მირჩევნია შეკვეთა გავაუქმო და თანხა დავიბრუნო. ასევე მინდა ვიცოდე, შეიძლება თუ არა ანგარიშის გაცემა ჩვენს ახალ მისამართზე.",
  Hebrew:
    "בוקר טוב, הזמנתי מנורה בשבוע שעבר ועדיין לא קיבלתי אישור משלוח. האם תוכלו לבדוק אם החבילה כבר בדרך? אם המשלוח מתעכב, אעדיף לבטל את ההזמנה ולקבל את הכסף בחזרה. אשמח גם לדעת אם אפשר להוציא את החשבונית לכתובת החדשה שלנו.",
  Arabic:
    "صباح الخير، طلبت مصباحا الأسبوع الماضي ولم أتلق بعد تأكيد الشحن. هل يمكنكم التحقق مما إذا كان الطرد في الطريق؟ إذا تأخر التسليم فأنا أفضل إلغاء الطلب واسترداد أموالي. أود أيضا أن أعرف ما إذا كان من الممكن إصدار الفاتورة على عنواننا الجديد.",
  Persian:
    "صبح بخیر، هفته گذشته یک چراغ سفارش دادم و هنوز تأیید ارسال را دریافت نکرده‌ام. می‌توانید بررسی کنید که آیا بسته در راه است؟ اگر تحویل دیر شود ترجیح می‌دهم سفارش را لغو کنم و پولم را پس بگیرم. همچنین می‌خواهم بدانم آیا می‌شود فاکتور را به نشانی جدید ما صادر کرد.",
  Urdu: "صبح بخیر، میں نے پچھلے ہفتے ایک لیمپ منگوایا تھا اور ابھی تک روانگی کی تصدیق نہیں ملی۔ کیا آپ دیکھ سکتے ہیں کہ پارسل راستے میں ہے یا نہیں؟ اگر ترسیل میں دیر ہو تو میں آرڈر منسوخ کر کے اپنے پیسے واپس لینا چاہوں گا۔ میں یہ بھی جاننا چاہتا ہوں کہ کیا رسید ہمارے نئے پتے پر بن سکتی ہے۔",
  Hindi:
    "सुप्रभात, मैंने पिछले हफ्ते एक लैंप मँगवाया था और अभी तक भेजे जाने की पुष्टि नहीं मिली है। क्या आप देख सकते हैं कि पार्सल रास्ते में है या नहीं? अगर डिलीवरी में देर होती है तो मैं ऑर्डर रद्द करके अपना पैसा वापस लेना चाहूँगा। मैं यह भी जानना चाहता हूँ कि क्या बिल हमारे नए पते पर बन सकता है।",
  Marathi:
    "सुप्रभात, मी मागच्या आठवड्यात एक दिवा मागवला होता आणि अजून पाठवल्याची खात्री मिळालेली नाही. पार्सल वाटेत आहे का ते तुम्ही पाहू शकता का? जर उशीर होणार असेल तर मला ऑर्डर रद्द करून पैसे परत घ्यायला आवडेल. बिल आमच्या नवीन पत्त्यावर करता येईल का हेही मला जाणून घ्यायचे आहे.",
  Bengali:
    "সুপ্রভাত, আমি গত সপ্তাহে একটি বাতি অর্ডার করেছিলাম এবং এখনও পাঠানোর নিশ্চিতকরণ পাইনি। আপনারা কি দেখতে পারবেন পার্সেলটি পথে আছে কি না? যদি পৌঁছাতে দেরি হয়, তাহলে আমি অর্ডারটি বাতিল করে টাকা ফেরত নিতে চাই। বিলটি আমাদের নতুন ঠিকানায় করা যাবে কি না সেটাও জানতে চাই।",
  Punjabi:
    "ਸ਼ੁਭ ਸਵੇਰ, ਮੈਂ ਪਿਛਲੇ ਹਫ਼ਤੇ ਇੱਕ ਲੈਂਪ ਮੰਗਵਾਇਆ ਸੀ ਅਤੇ ਹਾਲੇ ਤੱਕ ਭੇਜਣ ਦੀ ਪੁਸ਼ਟੀ ਨਹੀਂ ਮਿਲੀ। ਕੀ ਤੁਸੀਂ ਦੇਖ ਸਕਦੇ ਹੋ ਕਿ ਪਾਰਸਲ ਰਸਤੇ ਵਿੱਚ ਹੈ ਜਾਂ ਨਹੀਂ? ਜੇ ਦੇਰ ਹੁੰਦੀ ਹੈ ਤਾਂ ਮੈਂ ਆਰਡਰ ਰੱਦ ਕਰਕੇ ਆਪਣੇ ਪੈਸੇ ਵਾਪਸ ਲੈਣਾ ਚਾਹਾਂਗਾ।",
  Gujarati:
    "સુપ્રભાત, મેં ગયા અઠવાડિયે એક દીવો મંગાવ્યો હતો અને હજી સુધી મોકલ્યાની ખાતરી મળી નથી. શું તમે જોઈ શકો છો કે પાર્સલ રસ્તામાં છે કે નહીં? જો મોડું થાય તો હું ઓર્ડર રદ કરીને મારા પૈસા પાછા લેવા માગું છું.",
  Tamil:
    "காலை வணக்கம், நான் கடந்த வாரம் ஒரு விளக்கு வாங்க பதிவு செய்தேன், அனுப்பியதற்கான உறுதிப்பாடு இன்னும் கிடைக்கவில்லை. பொதி வழியில் உள்ளதா என்று நீங்கள் பார்க்க முடியுமா? தாமதமாகும் என்றால், பதிவை ரத்து செய்து பணத்தைத் திரும்பப் பெற விரும்புகிறேன். எங்கள் புதிய முகவரிக்கு ரசீது தர முடியுமா என்றும் அறிய விரும்புகிறேன்.",
  Telugu:
    "శుభోదయం, నేను గత వారం ఒక దీపం ఆర్డర్ చేశాను, ఇంకా పంపినట్లు నిర్ధారణ రాలేదు. పార్సెల్ దారిలో ఉందో లేదో మీరు చూడగలరా? ఆలస్యం అయితే నేను ఆర్డర్ రద్దు చేసి నా డబ్బు తిరిగి తీసుకోవాలనుకుంటున్నాను. బిల్లును మా కొత్త చిరునామాకు ఇవ్వగలరా అని కూడా తెలుసుకోవాలనుకుంటున్నాను.",
  Kannada:
    "ಶುಭೋದಯ, ನಾನು ಕಳೆದ ವಾರ ಒಂದು ದೀಪವನ್ನು ಆರ್ಡರ್ ಮಾಡಿದ್ದೆ, ಕಳುಹಿಸಿದ ದೃಢೀಕರಣ ಇನ್ನೂ ಬಂದಿಲ್ಲ. ಪಾರ್ಸೆಲ್ ದಾರಿಯಲ್ಲಿ ಇದೆಯೇ ಎಂದು ನೀವು ನೋಡಬಹುದೇ? ತಡವಾದರೆ ನಾನು ಆರ್ಡರ್ ರದ್ದು ಮಾಡಿ ನನ್ನ ಹಣವನ್ನು ಹಿಂಪಡೆಯಲು ಬಯಸುತ್ತೇನೆ.",
  Malayalam:
    "സുപ്രഭാതം, ഞാൻ കഴിഞ്ഞ ആഴ്ച ഒരു വിളക്ക് ഓർഡർ ചെയ്തിരുന്നു, അയച്ചതിന്റെ സ്ഥിരീകരണം ഇതുവരെ ലഭിച്ചിട്ടില്ല. പാഴ്സൽ വഴിയിലാണോ എന്ന് നിങ്ങൾക്ക് പരിശോധിക്കാമോ? വൈകുകയാണെങ്കിൽ ഓർഡർ റദ്ദാക്കി പണം തിരികെ വാങ്ങാൻ ഞാൻ ആഗ്രഹിക്കുന്നു.",
  Sinhala:
    "සුබ උදෑසනක්, මම පසුගිය සතියේ ලාම්පුවක් ඇණවුම් කළ අතර තවමත් යැවීම තහවුරු කිරීමක් ලැබී නැත. පාර්සලය දැනටමත් මාර්ගයේ තිබේදැයි ඔබට පරීක්ෂා කළ හැකිද? ප්‍රමාද වන්නේ නම් මම ඇණවුම අවලංගු කර මුදල් ආපසු ලබා ගැනීමට කැමැත්තෙමි.",
  Thai: "สวัสดีตอนเช้า ฉันสั่งโคมไฟไปเมื่อสัปดาห์ที่แล้วและยังไม่ได้รับการยืนยันการจัดส่ง ช่วยตรวจสอบให้หน่อยได้ไหมว่าพัสดุอยู่ระหว่างทางแล้วหรือยัง ถ้าการจัดส่งล่าช้า ฉันอยากยกเลิกคำสั่งซื้อและขอเงินคืน และอยากทราบด้วยว่าสามารถออกใบเสร็จตามที่อยู่ใหม่ของเราได้หรือไม่",
  Lao: "ສະບາຍດີຕອນເຊົ້າ ຂ້ອຍສັ່ງໂຄມໄຟໄປອາທິດແລ້ວ ແລະຍັງບໍ່ໄດ້ຮັບການຢືນຢັນການຈັດສົ່ງ ຊ່ວຍກວດເບິ່ງໃຫ້ແດ່ໄດ້ບໍວ່າພັດສະດຸຢູ່ລະຫວ່າງທາງແລ້ວຫຼືຍັງ",
  Burmese:
    "မင်္ဂလာနံနက်ခင်းပါ၊ ကျွန်တော် ပြီးခဲ့တဲ့အပတ်က မီးအိမ်တစ်လုံး မှာယူခဲ့ပြီး ပို့ဆောင်ကြောင်း အတည်ပြုချက် မရသေးပါဘူး။ ပစ္စည်းက လမ်းမှာ ရောက်နေပြီလား စစ်ဆေးပေးနိုင်မလား။ နောက်ကျမယ်ဆိုရင် မှာယူမှုကို ပယ်ဖျက်ပြီး ငွေပြန်ယူချင်ပါတယ်။",
  Khmer:
    "អរុណសួស្តី ខ្ញុំបានបញ្ជាទិញចង្កៀងមួយកាលពីសប្តាហ៍មុន ហើយមិនទាន់ទទួលបានការបញ្ជាក់ពីការដឹកជញ្ជូនទេ។ តើអ្នកអាចពិនិត្យមើលថាកញ្ចប់កំពុងធ្វើដំណើរហើយឬនៅ? ប្រសិនបើយឺត ខ្ញុំចង់បោះបង់ការបញ្ជាទិញ និងទទួលប្រាក់វិញ។",
  Amharic:
    "እንደምን አደሩ፣ ባለፈው ሳምንት መብራት አዝዤ ነበር እና እስካሁን የመላኪያ ማረጋገጫ አልደረሰኝም። ጥቅሉ በመንገድ ላይ መሆኑን ማረጋገጥ ትችላላችሁ? ከዘገየ ትዕዛዙን ሰርዤ ገንዘቤን መመለስ እፈልጋለሁ።",
  Korean:
    "안녕하세요, 지난주에 램프를 주문했는데 아직 배송 확인을 받지 못했습니다. 소포가 이미 출발했는지 확인해 주실 수 있나요? 배송이 늦어진다면 주문을 취소하고 환불을 받고 싶습니다. 그리고 청구서를 저희 새 주소로 발행할 수 있는지도 알고 싶습니다.",
  Japanese:
    "おはようございます。先週ランプを注文したのですが、まだ発送の確認が届いていません。荷物がもう発送されたかどうか確認していただけますか。配達が遅れるようでしたら、注文をキャンセルして返金していただきたいです。また、請求書を新しい住所宛てに発行できるかどうかも教えてください。",
  "Chinese, simplified":
    "早上好，我上周订了一盏灯，到现在还没有收到发货确认。请帮我查一下包裹是否已经在路上了？如果送货延迟，我想取消订单并退款。另外我还想知道，发票能不能开到我们的新地址。",
  "Chinese, traditional":
    "早安，我上週訂了一盞燈，到現在還沒有收到出貨確認。請幫我查一下包裹是否已經在路上了？如果送貨延遲，我想取消訂單並退款。另外我還想知道，發票能不能開到我們的新地址。",
};
