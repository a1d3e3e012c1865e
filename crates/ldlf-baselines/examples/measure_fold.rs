//! scratch
use ldlf_core::*;
use std::time::Instant;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let sets: Vec<&str> = args[2].split(',').collect();
    let settings = Settings::parse(&args[3..]).unwrap();
    for set in sets {
        let dir = std::env::var("LDLF_DATA").unwrap();
        let data = ldlf_core::read::read(format!("{dir}/ldl/{set}.mat").as_ref(), &Default::default())
            .unwrap()
            .dataset;
        let folds: Vec<usize> = std::fs::read_to_string(format!("{dir}/folds/{set}.txt"))
            .unwrap()
            .lines()
            .map(|l| l.trim().parse().unwrap())
            .collect();
        let (te, tr): (Vec<usize>, Vec<usize>) = (0..data.rows()).partition(|&r| folds[r] == 0);
        let (tr, te) = (data.select(&tr), data.select(&te));
        for name in args[1].split(',') {
            let entry = ldlf_baselines::entries().into_iter().find(|e| e.name == name).unwrap();
            let learner = (entry.build)(&settings).unwrap();
            let threads = Threads::new(std::env::var("T").map_or(2, |r| r.parse().unwrap())).unwrap();
            let t = Instant::now();
            let m =
                TrainedModel::fit(&*learner, &tr, &mut FitContext::new(0, threads.clone(), &mut ())).unwrap();
            let fit = t.elapsed().as_secs_f64();
            let t = Instant::now();
            let p = m.predict(&te.features, &threads).unwrap().into_distributions().unwrap();
            let mut pt = t.elapsed().as_secs_f64();
            for _ in 0..std::env::var("REPEAT").map_or(0, |r| r.parse().unwrap()) {
                let t = Instant::now();
                m.predict(&te.features, &threads).unwrap();
                pt = pt.min(t.elapsed().as_secs_f64());
            }
            let mut kl = 0.0;
            for (d, p) in te.targets.as_slice().iter().zip(p.as_slice()) {
                kl += numeric::xlogy(*d as f64, *d as f64) - numeric::xlogy(*d as f64, *p as f64);
            }
            println!(
                "{name} {set} sparse={} kl {:.4} fit {:.3}s predict {:.4}s {:?} {:?}",
                matches!(data.features, Features::Sparse(_)),
                kl / te.rows() as f64,
                fit,
                pt,
                m.summary,
                m.model.inspect()
            );
        }
    }
}
